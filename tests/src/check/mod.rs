//! Does an openssl.cnf really load the engine and offer its groups, and if not, which line is to blame?
//!
//! OpenSSL 1.1.1 says nothing about a wrong configuration and goes on without the engine. So this does both: it reads the
//! file as OpenSSL does ([`parse`]) and follows the way from `openssl_conf` to the engine and to the groups (`rules`),
//! letting OpenSSL itself judge each line on that way; and it looks at the hello that `openssl s_client` sends under that
//! file (`proof`).

mod application;
pub mod parse;
mod process;
mod proof;
mod rules;

pub use application::check_application;
pub use process::check_process;

use crate::bed::KEMS;
use crate::wire::ClientHello;
use parse::{Config, Place, Problem};
use proof::Prober;
use std::fmt;
use std::path::Path;

/// One remark about the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Where, if it belongs to a line.
    pub place: Option<Place>,
    /// What is the matter.
    pub what: String,
    /// What to do about it.
    pub advice: String,
    /// An error keeps the engine or its groups from working; a note does not.
    pub is_error: bool,
}

impl Finding {
    fn error(place: Option<&Place>, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Finding { place: place.cloned(), what: what.into(), advice: advice.into(), is_error: true }
    }

    fn note(place: Option<&Place>, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Finding { is_error: false, ..Finding::error(place, what, advice) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(out, "{place}: ")?;
        }
        write!(out, "{}{}: {}", if self.is_error { "" } else { "note: " }, self.what, self.advice)
    }
}

/// What was found out about a file.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Remarks, in the order of their lines' importance.
    pub findings: Vec<Finding>,
    /// What was seen to work, one sentence each.
    pub facts: Vec<String>,
    /// Whether the openssl tool was seen to send a key share of the engine's, whatever the findings say of other programs.
    pub tool_works: bool,
}

impl Report {
    /// Whether nothing keeps the engine and its groups from working.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.findings.iter().all(|finding| !finding.is_error)
    }
}

/// Judges a file, with the help of the patched `openssl` program.
///
/// # Errors
/// That program cannot be run, or the machine gives no socket or temporary directory: nothing is known about the file.
pub fn check(file: &Path, openssl: &Path) -> Result<Report, String> {
    let prober = Prober::new(openssl)?;
    let mut report = Report::default();
    match Config::read(file) {
        Ok(config) => {
            for Problem { place, what, advice } in &config.warnings {
                report.findings.push(Finding::note(Some(place), what, advice));
            }
            rules::follow(file, &config, &prober, &mut report)?;
        }
        Err(Problem { place, what, advice }) => report.findings.push(Finding::error(Some(&place), what, advice)),
    }
    prove(file, &prober, &mut report)?;
    Ok(report)
}

/// Looks at what the programs do under this file, whatever its lines look like.
fn prove(file: &Path, prober: &Prober, report: &mut Report) -> Result<(), String> {
    let place = Place::whole(file);
    let explained = !report.is_right();
    let engine = prober.loads_engine(file)?;
    if engine {
        report.facts.push("openssl loads the engine engntru".to_owned());
    } else if !explained {
        report.findings.push(Finding::error(
            Some(&place),
            "with this file openssl does not load the engine, though no line looks wrong",
            "compare it with the example in the README",
        ));
    }
    match prober.hello(file)? {
        Ok(hello) => judge_hello(&hello, &place, explained, report),
        Err(printed) if !explained || engine => report.findings.push(Finding::error(
            Some(&place),
            format!("with this file s_client sends no ClientHello; it says \"{printed}\""),
            "mend what it says",
        )),
        Err(_) => {}
    }
    Ok(())
}

fn judge_hello(hello: &ClientHello, place: &Place, explained: bool, report: &mut Report) {
    let groups = hello.groups.clone().unwrap_or_default();
    let names: Vec<String> = groups.iter().map(|group| name(*group)).collect();
    report.facts.push(format!("a client that sets no groups of its own offers {}", names.join(", ")));
    let shares = hello.key_shares.clone().unwrap_or_default();
    for share in &shares {
        report.facts.push(format!("its key share is for {}, {} bytes", name(share.group), share.key_exchange.len()));
    }
    let is_kem = |group: u16| KEMS.iter().any(|kem| kem.group == group);
    report.tool_works = shares.iter().any(|share| is_kem(share.group));
    if !groups.iter().any(|group| is_kem(*group)) {
        if !explained {
            report.findings.push(Finding::error(
                Some(place),
                "with this file a client offers no group of the engine, though no line looks wrong",
                "compare it with the example in the README",
            ));
        }
    } else if !report.tool_works {
        report.findings.push(Finding::note(
            None,
            "clients send a share for another group than the engine's, and most servers take what they are sent",
            "put the engine's group first in Groups if it shall be used wherever both sides have it",
        ));
    }
}

/// A group as people write it, with its code point.
fn name(group: u16) -> String {
    let known = [(23, "P-256"), (24, "P-384"), (25, "P-521"), (29, "X25519"), (30, "X448")];
    let kems = KEMS.iter().map(|kem| (kem.group, kem.name));
    match known.into_iter().chain(kems).find(|(id, _)| *id == group) {
        Some((_, name)) => format!("{name} (0x{group:04X})"),
        None => format!("0x{group:04X}"),
    }
}
