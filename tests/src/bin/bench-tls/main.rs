//! Handshakes a second, the experiment of the paper's section 4.4: one client, full TLS 1.3 handshakes one after another, against
//! s_server and stunnel on the loopback, with the key exchange groups in turn in many short rounds.

mod chart;
mod report;

use engntru_tests::apps::{App, Running};
use engntru_tests::backend::Backend;
use engntru_tests::bed::{Bed, KeyKind, OpenSsl, PATIENCE, isolate};
use engntru_tests::conf::Conf;
use engntru_tests::env;
use engntru_tests::proc::{self, Process};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

const USAGE: &str = "usage: bench-tls CLIENT-1.1.1w CLIENT-3.5 CLIENT-4.0 [--json FILE] [--svg FILE] [--quick]

CLIENT-... are the programs built from tests/apps/tls_client.c; scripts/bench tls builds them and calls this.";

/// Handshakes of one round: two batches of the engine's stock, so that each round pays for what it takes.
const HANDSHAKES: usize = 64;

/// A kind of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    SServer,
    Stunnel,
}

impl Kind {
    const ALL: [Kind; 2] = [Kind::SServer, Kind::Stunnel];

    fn name(self) -> &'static str {
        match self {
            Kind::SServer => "s_server",
            Kind::Stunnel => "stunnel",
        }
    }
}

/// An OpenSSL and the groups that are measured with it: the patched one with the engine, the others with the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Library {
    Patched,
    Debian13,
    OpenSsl4,
}

impl Library {
    const ALL: [Library; 3] = [Library::Patched, Library::Debian13, Library::OpenSsl4];

    fn name(self) -> &'static str {
        match self {
            Library::Patched => "1.1.1w",
            Library::Debian13 => "3.5",
            Library::OpenSsl4 => "4.0",
        }
    }

    /// Where scripts/get-apps has unpacked it; the patched one is built.
    fn directory(self) -> Option<&'static str> {
        match self {
            Library::Patched => None,
            Library::Debian13 => Some("debian13"),
            Library::OpenSsl4 => Some("openssl-4"),
        }
    }

    fn groups(self) -> &'static [&'static str] {
        match self {
            Library::Patched => &["P-256", "X25519", "sntrup761", "sntrup857"],
            Library::Debian13 | Library::OpenSsl4 => {
                &["X25519", "X25519MLKEM768", "sntrup761", "sntrup857", "X25519sntrup761"]
            }
        }
    }

    /// Whether there is a server of this kind that runs on it.
    fn has(self, kind: Kind) -> bool {
        !(self == Library::OpenSsl4 && kind == Kind::Stunnel)
    }
}

/// One round: nanoseconds for all its handshakes.
#[derive(Clone, Copy, Debug)]
struct Round {
    wall: f64,
    client: f64,
    server: f64,
}

/// What is measured: a group, with a server and a certificate.
struct Contestant {
    kind: Kind,
    certificate: &'static str,
    library: Library,
    group: &'static str,
    client: Process,
    rounds: Vec<Round>,
}

impl Contestant {
    /// Runs one round.
    ///
    /// # Panics
    /// The client fails: what it printed.
    fn measure(&mut self) {
        let number = self.rounds.len();
        self.client.say(&format!("{HANDSHAKES}\n"));
        let line = self.client.wait_for(PATIENCE, |stdout, _| {
            // The line is there when its end is.
            (stdout.matches('\n').count() > number).then(|| stdout.lines().nth(number).map(str::to_owned))?
        });
        let line = line.unwrap_or_else(|| {
            panic!("{} with {} and {}: {:?}", self.kind.name(), self.certificate, self.group, self.client.printed())
        });
        let figures: Vec<f64> = line.split(' ').filter_map(|figure| figure.parse().ok()).collect();
        let [wall, client, server] = figures[..] else { panic!("the client printed \"{line}\"") };
        self.rounds.push(Round { wall, client, server });
    }
}

struct Options {
    clients: [PathBuf; 3],
    json: Option<PathBuf>,
    svg: Option<PathBuf>,
    quick: bool,
}

fn options() -> Option<Options> {
    let mut arguments = std::env::args_os().skip(1);
    let clients = [arguments.next()?.into(), arguments.next()?.into(), arguments.next()?.into()];
    let mut options = Options { clients, json: None, svg: None, quick: false };
    while let Some(argument) = arguments.next() {
        match argument.to_str()? {
            "--json" => options.json = Some(arguments.next()?.into()),
            "--svg" => options.svg = Some(arguments.next()?.into()),
            "--quick" => options.quick = true,
            _ => return None,
        }
    }
    Some(options)
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let certificates: &[(&'static str, KeyKind)] = if options.quick {
        &[("ECDSA P-256", KeyKind::P256)]
    } else {
        &[("ECDSA P-256", KeyKind::P256), ("Ed25519", KeyKind::Ed25519), ("RSA-2048", KeyKind::Rsa)]
    };
    let passes = if options.quick { 15 } else { 60 };
    let backend = Backend::reversing();
    let mut beds = Vec::new();
    let mut servers = Vec::new();
    let mut contestants = Vec::new();
    for (name, key) in certificates {
        let bed = Bed::with_key(*key);
        for kind in Kind::ALL {
            for library in Library::ALL.into_iter().filter(|library| library.has(kind)) {
                let server = start_server(&bed, kind, library, &backend);
                for group in library.groups() {
                    let client = start_client(&bed, library, &options.clients, group, &server);
                    contestants.push(Contestant {
                        kind,
                        certificate: name,
                        library,
                        group,
                        client,
                        rounds: Vec::new(),
                    });
                }
                servers.push(server);
            }
        }
        beds.push(bed);
    }
    for pass in 0..=passes {
        if pass % 5 == 0 {
            eprintln!("pass {pass} of {passes}");
        }
        // Neighbours change places from pass to pass, so that nobody always comes after the same one.
        let count = contestants.len();
        for step in 0..count {
            let index = if pass % 2 == 0 { step } else { count - 1 - step };
            contestants[index].measure();
        }
    }
    // The first pass warms up.
    for contestant in &mut contestants {
        contestant.rounds.remove(0);
    }
    let report = report::Report::new(&contestants, passes);
    print!("{}", report.table());
    for (file, text) in [(&options.json, report.json()), (&options.svg, chart::svg(&report))] {
        if let Some(file) = file
            && let Err(error) = std::fs::write(file, text)
        {
            eprintln!("bench-tls: {}: {error}", file.display());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// The openssl.cnf of all that runs on a library. Written once: programs read it while others are still started.
fn conf_of(bed: &Bed, library: Library) -> PathBuf {
    let path = bed.path(&format!("bench-{}.cnf", library.name()));
    if path.exists() {
        return path;
    }
    let conf = match library {
        Library::Patched => Conf::engine(&env::engine()),
        Library::Debian13 | Library::OpenSsl4 => Conf::provider(&env::provider()),
    };
    conf.write(path).expect("a file in the temporary directory")
}

/// The openssl program of a library.
fn openssl(bed: &Bed, library: Library) -> OpenSsl {
    let openssl = library.directory().map_or(bed.bare.clone(), OpenSsl::of_debian);
    openssl.with_conf(conf_of(bed, library))
}

/// A server that takes all groups of its library.
fn start_server(bed: &Bed, kind: Kind, library: Library, backend: &Backend) -> Running {
    let port = proc::free_port();
    let groups = library.groups().join(":");
    let (certificate, key) = (&bed.certificate.certificate, &bed.certificate.key);
    let command = match kind {
        Kind::SServer => {
            let mut command = openssl(bed, library).command(&[]);
            command.args(["s_server", "-quiet", "-accept", &format!("127.0.0.1:{port}"), "-groups", &groups]);
            command.arg("-cert").arg(certificate).arg("-key").arg(key);
            command
        }
        Kind::Stunnel => {
            let app = match library {
                Library::Patched => App::stunnel(),
                _ => App::debian13("stunnel of Debian 13", "usr/bin/stunnel4"),
            };
            let mut command = app.command(&conf_of(bed, library));
            let text = format!(
                "foreground = yes\npid =\nsyslog = no\ndebug = err\n[tls]\naccept = 127.0.0.1:{port}\nconnect = {}\n\
                 cert = {}\nkey = {}\ncurves = {groups}\n",
                backend.address,
                certificate.display(),
                key.display()
            );
            let conf = bed.path(&format!("stunnel-{}.conf", library.name()));
            std::fs::write(&conf, text).expect("a file in the temporary directory");
            command.arg(conf);
            command
        }
    };
    let what = format!("{} of {}", kind.name(), library.name());
    Running::start(command, port).unwrap_or_else(|end| panic!("{what} ended: {}", end.all()))
}

fn start_client(bed: &Bed, library: Library, clients: &[PathBuf; 3], group: &str, server: &Running) -> Process {
    let [patched, debian13, openssl4] = clients;
    let program = match library {
        Library::Patched => patched,
        Library::Debian13 => debian13,
        Library::OpenSsl4 => openssl4,
    };
    let mut command = Command::new(program);
    isolate(&mut command, Some(&conf_of(bed, library)));
    command.arg(server.address.port().to_string()).arg(group).arg(&bed.certificate.certificate);
    command.arg(server.id().to_string());
    Process::start(command).unwrap_or_else(|error| panic!("{error}"))
}
