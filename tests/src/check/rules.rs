//! Follows OpenSSL's way through a configuration: `openssl_conf` to the list of modules, from there to the engine's lines
//! (crypto/engine/eng_cnf.c) and to the TLS commands (crypto/conf/conf_ssl.c, ssl/ssl_mcnf.c).

use super::parse::{Config, DEFAULT, Entry, Place};
use super::proof::{Loading, Prober};
use super::{Finding, Report};
use crate::bed::KEMS;
use std::path::Path;

/// The engine's id.
const ENGINE: &str = "engntru";
/// Modules that OpenSSL 1.1.1 knows, in the order in which it looks; a name may be cut short.
const MODULES: [&str; 5] = ["oid_section", "stbl_section", "engines", "alg_section", "ssl_conf"];
/// What default_algorithms may name, in the order in which OpenSSL looks; a name may be cut short.
const ALGORITHMS: [&str; 11] =
    ["ALL", "RSA", "DSA", "DH", "EC", "RAND", "CIPHERS", "DIGESTS", "PKEY", "PKEY_CRYPTO", "PKEY_ASN1"];

/// Published parameter sets for which the engine has no TLS group. One of them looks like a slip of the pen for another.
const OTHER_SETS: [&str; 4] = ["sntrup653", "sntrup953", "sntrup1013", "sntrup1277"];

/// A name without what stands before its first dot, which OpenSSL skips.
fn skip_dot(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, after)| after)
}

/// Number of single-character changes between two words, whatever their case.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.to_lowercase().chars().collect(), b.to_lowercase().chars().collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

/// "write X" when a known word is near.
fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.into_iter().map(|candidate| (distance(word, candidate), candidate)).min()?;
    (near.0 <= 2).then_some(near.1)
}

struct Follower<'a> {
    config: &'a Config,
    prober: &'a Prober,
    report: &'a mut Report,
}

/// Goes the whole way and writes down what is wrong on it.
///
/// # Errors
/// The openssl program could not be asked.
pub(super) fn follow(file: &Path, config: &Config, prober: &Prober, report: &mut Report) -> Result<(), String> {
    let top = Place::whole(file);
    let mut follower = Follower { config, prober, report };
    for (old, place) in &config.replaced {
        if old.name != "openssl_conf" {
            let what = format!("this line is without effect, since {place} sets {} again", old.name);
            follower.report.findings.push(Finding::note(Some(&old.place), what, "keep one of the two"));
        }
    }
    let Some(modules) = follower.modules(&top) else {
        return Ok(());
    };
    let mut stopped = None;
    let mut seen = (false, false);
    for entry in &modules {
        if let Some(by) = &stopped {
            let what = format!("OpenSSL does not come to this line, because it stops at {by}");
            follower.report.findings.push(Finding::note(Some(&entry.place), what, "mend that first"));
        }
        // A module's name ends at its last dot, and OpenSSL takes the first module that starts with it.
        let name = entry.name.rsplit_once('.').map_or(entry.name.as_str(), |(name, _)| name);
        let right = match MODULES.iter().find(|module| module.starts_with(name)).copied().unwrap_or(name) {
            "engines" => {
                seen.0 = true;
                follower.engines(entry)?
            }
            "ssl_conf" => {
                seen.1 = true;
                follower.tls(entry)?
            }
            name if MODULES.contains(&name) => true,
            name => {
                follower.unknown_module(name, &entry.place);
                false
            }
        };
        if !right && stopped.is_none() {
            stopped = Some(entry.place.clone());
        }
    }
    let section = modules.first().map(|entry| entry.section.clone()).unwrap_or_default();
    for (present, name, purpose) in [
        (seen.0, "engines", "no engine is loaded"),
        (seen.1, "ssl_conf", "programs that set no groups offer OpenSSL's own default, without the engine's"),
    ] {
        if !present && stopped.is_none() {
            follower.missing_module(&section, name, purpose, &top);
        }
    }
    Ok(())
}

impl Follower<'_> {
    fn error(&mut self, place: &Place, what: impl Into<String>, advice: impl Into<String>) {
        self.report.findings.push(Finding::error(Some(place), what, advice));
    }

    /// The section that `entry` names, which must be there and hold something.
    fn section(&mut self, entry: &Entry) -> Option<Vec<Entry>> {
        let name = entry.value.as_str();
        match self.config.section(name) {
            Some(entries) if !entries.is_empty() => Some(entries.into_iter().cloned().collect()),
            Some(_) => {
                let place = self.config.head(name).unwrap_or(&entry.place).clone();
                self.error(&place, format!("the section [{name}] is empty"), "put its lines under it");
                None
            }
            None => {
                let known = self.config.sections.iter().map(|(section, _)| section.as_str());
                let advice = match nearest(name, known.filter(|section| *section != DEFAULT)) {
                    Some(near) => format!("did you mean [{near}]?"),
                    None => format!("add a line [{name}] with what belongs to it"),
                };
                self.error(
                    &entry.place,
                    format!("{} names a section [{name}] that does not exist", entry.name),
                    advice,
                );
                None
            }
        }
    }

    /// The list of modules to which `openssl_conf` leads.
    fn modules(&mut self, top: &Place) -> Option<Vec<Entry>> {
        let name = "openssl_conf";
        let chosen = self.config.get(DEFAULT, name).cloned();
        let lost = self.config.replaced.iter().filter(|(old, _)| old.section == DEFAULT && old.name == name);
        for (old, place) in lost.cloned().collect::<Vec<_>>() {
            let to = chosen.as_ref().map_or("", |entry| entry.value.as_str());
            if old.value == to {
                let what = format!("{place} says the same again");
                self.report.findings.push(Finding::note(Some(&old.place), what, "keep one of the two"));
                continue;
            }
            let what =
                format!("there is a second openssl_conf line at {place}, so OpenSSL never reads [{}]", old.value);
            self.error(&old.place, what, format!("keep one of the two lines, and put all modules into [{to}]"));
        }
        let elsewhere = self.config.entries.iter().filter(|entry| entry.name == name && entry.section != DEFAULT);
        for entry in elsewhere.cloned().collect::<Vec<_>>() {
            let what =
                format!("this openssl_conf line belongs to [{}], where OpenSSL does not look for it", entry.section);
            match &chosen {
                Some(first) if first.value == entry.value => {
                    let advice = format!("remove it: {} says the same where it counts", first.place);
                    self.report.findings.push(Finding::note(Some(&entry.place), what, advice));
                }
                Some(first) => {
                    let advice = format!(
                        "remove it, and put the lines of [{}] into [{}], which {} names",
                        entry.value, first.value, first.place
                    );
                    self.error(&entry.place, what, advice);
                }
                None => self.error(&entry.place, what, "move it above the first [section] line"),
            }
        }
        let Some(chosen) = chosen else {
            if !self.config.entries.iter().any(|entry| entry.name == name) {
                let near = self.config.section(DEFAULT).unwrap_or_default();
                let near = near.into_iter().find(|entry| distance(&entry.name, name) <= 2).cloned();
                let what = "there is no openssl_conf line, so OpenSSL reads nothing of this file";
                match near {
                    Some(near) => self.error(&near.place, what, format!("write {name} instead of {}", near.name)),
                    None => self.error(top, what, "add \"openssl_conf = openssl_init\" above the first [section] line"),
                }
            }
            return None;
        };
        self.section(&chosen)
    }

    fn unknown_module(&mut self, name: &str, place: &Place) {
        let (what, advice) = if name == "providers" {
            let advice = "remove the line from the file that OpenSSL 1.1.1 reads";
            ("\"providers\" belongs to OpenSSL 3; 1.1.1 stops here".to_owned(), advice.to_owned())
        } else {
            let what = format!("OpenSSL knows no module \"{name}\" and stops here");
            let advice = nearest(name, MODULES).map_or("remove the line".to_owned(), |near| format!("write {near}"));
            (what, advice)
        };
        self.error(place, what, advice);
    }

    fn missing_module(&mut self, section: &str, name: &str, effect: &str, top: &Place) {
        let elsewhere =
            self.config.entries.iter().find(|entry| entry.name == name && entry.section != section).cloned();
        if let Some(entry) = elsewhere {
            let what = format!("this {name} line belongs to [{}], where OpenSSL does not look for it", entry.section);
            self.error(&entry.place, what, format!("move it into [{section}]"));
        } else {
            let place = self.config.head(section).unwrap_or(top).clone();
            let what = format!("[{section}] has no {name} line: {effect}");
            self.error(&place, what, format!("add \"{name} = SECTION\""));
        }
    }

    /// The `engines` module. Gives whether OpenSSL gets to its end.
    fn engines(&mut self, module: &Entry) -> Result<bool, String> {
        let Some(list) = self.section(module) else {
            return Ok(false);
        };
        let mut ours = false;
        let mut right = true;
        for entry in &list {
            let Some(lines) = self.section(entry) else {
                right = false;
                continue;
            };
            let has = |name: &str, value: &str| {
                lines.iter().any(|line| skip_dot(&line.name) == name && line.value.contains(value))
            };
            if skip_dot(&entry.name) == ENGINE || has("engine_id", ENGINE) || has("dynamic_path", ENGINE) {
                ours = true;
                right &= self.engine(entry, &lines)?;
            }
        }
        if !ours && right {
            let place = self.config.head(&module.value).unwrap_or(&module.place).clone();
            let what = format!("none of the engines in [{}] is {ENGINE}", module.value);
            self.error(&place, what, format!("add \"{ENGINE} = SECTION\" and in that section its dynamic_path"));
            right = false;
        }
        Ok(right)
    }

    /// The lines of our engine's section. Gives whether OpenSSL gets to their end; some mistakes do not stop it.
    fn engine(&mut self, entry: &Entry, lines: &[Entry]) -> Result<bool, String> {
        let is = |line: &Entry, name: &str| skip_dot(&line.name) == name;
        let head = self.config.head(&entry.value).unwrap_or(&entry.place).clone();
        let special = ["engine_id", "soft_load", "dynamic_path", "init", "default_algorithms"];
        let controls: Vec<&Entry> = lines.iter().filter(|line| !special.contains(&skip_dot(&line.name))).collect();
        let mut right = true;
        if let Some(at) = lines.iter().position(|line| is(line, "dynamic_path")) {
            for line in lines[..at].iter().filter(|line| !is(line, "engine_id") && !is(line, "soft_load")) {
                let what = format!("{} stands above dynamic_path, before the engine is loaded", line.name);
                self.error(&line.place, what, format!("move it below {}", lines[at].place));
                right = false;
            }
            right &= self.load(&lines[at], &controls)?;
        } else if !self.prober.finds_engine()? {
            let what = format!("[{}] has no dynamic_path, so OpenSSL cannot find the engine", entry.value);
            self.error(&head, what, "add \"dynamic_path = /absolute/path/to/libengntru.so\"");
            right = false;
        }
        for line in lines.iter().filter(|line| is(line, "init") && line.value != "0" && line.value != "1") {
            let what = format!("init cannot be \"{}\"", line.value);
            self.error(&line.place, what, "write init = 1, or leave the line out");
            right = false;
        }
        match lines.iter().find(|line| is(line, "default_algorithms")) {
            Some(line) => right &= self.default_algorithms(line),
            // This does not stop OpenSSL.
            None => {
                let what = format!(
                    "[{}] has no default_algorithms: the openssl tool works without it, other programs do not",
                    entry.value
                );
                self.error(&head, what, "add \"default_algorithms = ALL\" as the last line of that section");
            }
        }
        Ok(right)
    }

    /// Has OpenSSL load the engine and give it its commands. Gives whether it takes them all.
    fn load(&mut self, path: &Entry, controls: &[&Entry]) -> Result<bool, String> {
        let file = Path::new(&path.value);
        if let Err(error) = std::fs::File::open(file) {
            let advice = match error.kind() {
                std::io::ErrorKind::PermissionDenied => "let this user read it",
                _ if file.is_absolute() => "give the path of libengntru.so",
                _ => "give the absolute path of libengntru.so",
            };
            let what = format!("dynamic_path: \"{}\" cannot be opened ({error})", path.value);
            self.error(&path.place, what, advice);
            return Ok(false);
        }
        if !file.is_absolute() {
            let what = "dynamic_path is relative, so that it depends on each program's working directory";
            self.error(&path.place, what, "give the absolute path of libengntru.so");
        }
        let commands: Vec<(&str, &str)> =
            controls.iter().map(|line| (skip_dot(&line.name), line.value.as_str())).collect();
        let (id, known, refused) = match self.prober.load(&path.value, &commands)? {
            Loading::Loaded { id, known, refused } => (id, known, refused),
            Loading::Failed { reason } => {
                let library = std::fs::read(file).unwrap_or_default();
                let needed = b"libcrypto.so.3\0";
                if library.windows(needed.len()).any(|window| window == needed) {
                    let advice = "build the engine with OPENSSL_DIR set to the patched OpenSSL";
                    self.error(&path.place, "this library was built for OpenSSL 3, not for 1.1.1", advice);
                } else {
                    let what = format!("OpenSSL cannot load this library ({reason})");
                    self.error(&path.place, what, "give the path of libengntru.so");
                }
                return Ok(false);
            }
        };
        if id != ENGINE {
            let what = format!("this library is the engine \"{id}\", not {ENGINE}");
            self.error(&path.place, what, "give the path of libengntru.so");
            return Ok(true);
        }
        let Some((at, reason)) = refused else {
            return Ok(true);
        };
        let Some(line) = controls.get(at) else {
            return Ok(true);
        };
        let name = skip_dot(&line.name);
        if known.iter().any(|known| known == name) {
            self.error(&line.place, format!("the engine refuses {name} = {}", line.value), reason);
        } else {
            let advice = match nearest(name, known.iter().map(String::as_str)) {
                Some(near) => format!("write {near}"),
                None => format!("it has {}", known.join(", ")),
            };
            self.error(&line.place, format!("the engine has no control command {name}"), advice);
        }
        Ok(false)
    }

    /// Gives whether OpenSSL takes the line.
    fn default_algorithms(&mut self, line: &Entry) -> bool {
        let (mut methods, mut encodings) = (false, false);
        for word in line.value.split(',').map(str::trim) {
            match ALGORITHMS.iter().find(|name| !word.is_empty() && name.starts_with(word)) {
                Some(&("ALL" | "PKEY")) => (methods, encodings) = (true, true),
                Some(&"PKEY_CRYPTO") => methods = true,
                Some(&"PKEY_ASN1") => encodings = true,
                Some(_) => {}
                None => {
                    let what = format!("default_algorithms does not know \"{word}\"");
                    self.error(&line.place, what, "write default_algorithms = ALL");
                    return false;
                }
            }
        }
        if !(methods && encodings) {
            let what = "these default_algorithms leave the engine's keys out";
            self.error(&line.place, what, "write default_algorithms = ALL");
        }
        true
    }

    /// The `ssl_conf` module. Gives whether OpenSSL gets to its end.
    fn tls(&mut self, module: &Entry) -> Result<bool, String> {
        let Some(list) = self.section(module) else {
            return Ok(false);
        };
        let mut system = None;
        let mut right = true;
        for entry in &list {
            // Every section in the list must be there, or OpenSSL forgets them all.
            match self.section(entry) {
                Some(lines) if entry.name == "system_default" => system = Some(lines),
                Some(_) => {}
                None => right = false,
            }
        }
        match system {
            Some(lines) if right => self.system_default(&lines)?,
            None if right => {
                let near = list.iter().find(|entry| distance(&entry.name, "system_default") <= 2);
                let (place, what) = match near {
                    Some(near) => (near.place.clone(), format!("\"{}\" is not read by all programs", near.name)),
                    None => {
                        let place = self.config.head(&module.value).unwrap_or(&module.place);
                        (place.clone(), format!("[{}] has no system_default line", module.value))
                    }
                };
                self.error(&place, what, "write \"system_default = SECTION\" and put Groups into that section");
                right = false;
            }
            _ => {}
        }
        Ok(right)
    }

    /// The commands that every SSL_CTX gets: OpenSSL stops in silence at the first that it does not take.
    fn system_default(&mut self, lines: &[Entry]) -> Result<(), String> {
        let is_groups = |line: &&Entry| {
            let name = skip_dot(&line.name);
            name.eq_ignore_ascii_case("Groups") || name.eq_ignore_ascii_case("Curves")
        };
        let mut refused: Option<&Entry> = None;
        let mut groups = None;
        for line in lines {
            if let Some(refused) = refused {
                let what = format!("OpenSSL does not come to this line, because it stops at {}", refused.place);
                self.report.findings.push(Finding::note(Some(&line.place), what, "mend that first"));
                continue;
            }
            if self.prober.takes_tls_command(skip_dot(&line.name), &line.value)? {
                if is_groups(&line) {
                    groups = Some(line);
                }
                self.version(line);
            } else if is_groups(&line) {
                refused = Some(line);
                self.bad_groups(line)?;
            } else {
                refused = Some(line);
                let what = format!("OpenSSL does not take {} = {}, and stops here", line.name, line.value);
                self.error(&line.place, what, "remove or mend it");
            }
        }
        match groups {
            Some(line) => {
                let names: Vec<&str> = line.value.split(':').collect();
                if !KEMS.iter().any(|kem| names.contains(&kem.name)) {
                    let known: Vec<&str> = KEMS.iter().map(|kem| kem.name).collect();
                    let what = format!("{} names none of the engine's groups", line.name);
                    self.error(&line.place, what, format!("put {} in front", known.join(" or ")));
                }
                if refused.is_none() && lines.last().is_some_and(|last| last != line) {
                    let what =
                        "further lines follow the groups; a name that is unknown there would make OpenSSL skip them";
                    self.report.findings.push(Finding::note(
                        Some(&line.place),
                        what,
                        "move this line to the section's end",
                    ));
                }
            }
            None if refused.is_none() => {
                let place = lines.first().map(|line| line.place.clone());
                let section = lines.first().map(|line| line.section.clone()).unwrap_or_default();
                let place = self.config.head(&section).cloned().or(place);
                let what = format!("[{section}] has no Groups line, so the engine's groups are not offered");
                self.report.findings.push(Finding::error(place.as_ref(), what, "add \"Groups = sntrup761:X25519\""));
            }
            None => {}
        }
        Ok(())
    }

    /// The groups exist in TLS 1.3 only.
    fn version(&mut self, line: &Entry) {
        let name = skip_dot(&line.name);
        let off = if name.eq_ignore_ascii_case("MaxProtocol") {
            !["TLSv1.3", "None"].contains(&line.value.as_str())
        } else if name.eq_ignore_ascii_case("Protocol") {
            // A list without signs names what is on; the last word about TLS 1.3 counts.
            let mut on = line.value.split(',').next().is_some_and(|first| first.trim().starts_with(['+', '-']));
            for word in line.value.split(',').map(str::trim) {
                let is_on = !word.starts_with('-');
                let version = word.trim_start_matches(['+', '-']);
                if version == "ALL" || version == "TLSv1.3" {
                    on = is_on;
                }
            }
            !on
        } else {
            false
        };
        if off {
            let what = format!("{} = {} switches TLS 1.3 off, and the engine's groups with it", line.name, line.value);
            self.error(&line.place, what, "allow TLSv1.3");
        }
    }

    /// A list of groups that OpenSSL does not take: which name is to blame?
    fn bad_groups(&mut self, line: &Entry) -> Result<(), String> {
        let effect = "OpenSSL falls back to its default groups and skips the rest of the section";
        let fault = fault_in_groups(self.prober, &line.value)?;
        let (what, advice) =
            fault.unwrap_or_else(|| ("OpenSSL does not take this list of groups".to_owned(), "mend it".to_owned()));
        self.error(&line.place, format!("{what}; {effect}"), advice);
        Ok(())
    }
}

/// Which name in a list of groups OpenSSL does not take: what is wrong with it, and what to do. `None`: each by itself is right.
pub(super) fn fault_in_groups(prober: &Prober, list: &str) -> Result<Option<(String, String)>, String> {
    let mut seen: Vec<&str> = Vec::new();
    for name in list.split(':') {
        if name.trim().is_empty() {
            let what = "there is an empty name in the list of groups".to_owned();
            return Ok(Some((what, "take out the colon too many".to_owned())));
        }
        if seen.contains(&name) {
            return Ok(Some((format!("{name} stands twice in the list of groups"), "name it once".to_owned())));
        }
        if !prober.takes_tls_command("Groups", name)? {
            return Ok(Some(unknown_group(name)));
        }
        seen.push(name);
    }
    Ok(None)
}

/// What is wrong with a group's name that OpenSSL does not take, and what to do.
fn unknown_group(name: &str) -> (String, String) {
    let known = ["sntrup761", "sntrup857", "X25519", "X448", "P-256", "P-384", "P-521"];
    let what = format!("OpenSSL knows no group \"{name}\"");
    let set = name.trim().to_ascii_lowercase();
    if OTHER_SETS.contains(&set.as_str()) {
        let what = format!("{what}: {set} is a parameter set of Streamlined NTRU Prime, but has no TLS group");
        return (what, "write sntrup761 or sntrup857".to_owned());
    }
    let advice = match nearest(name.trim(), known).filter(|near| *near != name) {
        Some(near) => format!("write {near}"),
        None if name.contains([',', ' ']) => "separate the names by colons, without spaces".to_owned(),
        None => "take it out".to_owned(),
    };
    (what, advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_without_a_group_is_no_slip_of_the_pen() {
        let (what, advice) = unknown_group("sntrup653");
        assert!(what.contains("has no TLS group") && advice == "write sntrup761 or sntrup857", "{what}: {advice}");
        let (what, advice) = unknown_group("sntrup657");
        assert!(!what.contains("has no TLS group") && advice.starts_with("write sntrup"), "{what}: {advice}");
    }

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        assert_eq!(nearest("SNTRUP761", ["sntrup857", "sntrup761"]), Some("sntrup761"));
        assert_eq!(nearest("engine", MODULES), Some("engines"));
        assert_eq!(nearest("kyber768", ["sntrup761", "X25519"]), None);
        assert_eq!(distance("", "abc"), 3);
    }
}
