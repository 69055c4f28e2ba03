//! Unmodified applications on the patched OpenSSL, or on an unmodified one with the provider: where they are, and how they
//! are started.

use crate::bed::{self, Bed, PATIENCE};
use crate::env;
use crate::proc::{self, Daemon, Finished, Process};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program together with the libraries that it has to find.
#[derive(Clone, Debug)]
pub struct App {
    /// What it is, for messages.
    pub name: &'static str,
    /// The program, after a dynamic linker and its options if it needs another one than the system's.
    program: Vec<PathBuf>,
    /// Directories for LD_LIBRARY_PATH, in order.
    libraries: Vec<PathBuf>,
}

impl App {
    /// stunnel 5.68, built from Debian 12's source against the patched OpenSSL.
    #[must_use]
    pub fn stunnel() -> Self {
        App {
            name: "stunnel 5.68, built from source",
            program: vec![env::app("stunnel").join("bin/stunnel")],
            libraries: Vec::new(),
        }
    }

    /// Debian 11's binary of stunnel, 5.56. Its `curves` are for servers only; as a client it offers what openssl.cnf says.
    #[must_use]
    pub fn stunnel_debian11() -> Self {
        Self::debian11("stunnel 5.56, Debian 11's binary", "usr/bin/stunnel4")
    }

    /// Debian 11's binary of nginx, 1.18.
    #[must_use]
    pub fn nginx() -> Self {
        Self::debian11("nginx 1.18, Debian 11's binary", "usr/sbin/nginx")
    }

    /// Debian 11's binary of haproxy, 2.2.
    #[must_use]
    pub fn haproxy() -> Self {
        Self::debian11("haproxy 2.2, Debian 11's binary", "usr/sbin/haproxy")
    }

    /// Debian 11's binary of curl, 7.74.
    #[must_use]
    pub fn curl() -> Self {
        Self::debian11("curl 7.74, Debian 11's binary", "usr/bin/curl")
    }

    fn debian11(name: &'static str, program: &str) -> Self {
        let root = env::app("debian11");
        // OpenSSL first: that is what the program is to run on. The rest is what Debian 12 has in other versions.
        let libraries =
            vec![env::openssl().join("lib"), root.join("usr/lib/x86_64-linux-gnu"), root.join("lib/x86_64-linux-gnu")];
        App { name, program: vec![root.join(program)], libraries }
    }

    /// A binary of Debian 12, which runs on the system's OpenSSL.
    #[must_use]
    pub fn debian12(name: &'static str, program: &str) -> Self {
        let root = env::app("debian12");
        let libraries = vec![root.join("usr/lib/x86_64-linux-gnu"), root.join("lib/x86_64-linux-gnu")];
        App { name, program: vec![root.join(program)], libraries }
    }

    /// A binary of Debian 13, with that Debian's own libraries.
    #[must_use]
    pub fn debian13(name: &'static str, program: &str) -> Self {
        App { name, program: bed::debian_program("debian13", program), libraries: Vec::new() }
    }

    /// A command line under an openssl.cnf, cut off from whatever OpenSSL settings surround us.
    ///
    /// # Panics
    /// The program is not there.
    #[must_use]
    pub fn command(&self, conf: &Path) -> Command {
        let program = self.program.last().expect("there is a program");
        assert!(program.exists(), "{} is not at {}: run scripts/get-apps", self.name, program.display());
        let mut command = Command::new(&self.program[0]);
        bed::isolate(&mut command, Some(conf));
        command.args(&self.program[1..]);
        if !self.libraries.is_empty() {
            let joined = std::env::join_paths(&self.libraries);
            command.env("LD_LIBRARY_PATH", joined.expect("no colon in a directory's name"));
        }
        command
    }

    /// Runs it to its end.
    ///
    /// # Panics
    /// It cannot be started or takes longer than a minute.
    #[must_use]
    pub fn run(&self, conf: &Path, arguments: &[&str]) -> Finished {
        let mut command = self.command(conf);
        command.args(arguments);
        proc::run(command, PATIENCE).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Whether stunnel stays with the one who started it, or goes into the background by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// `foreground = yes`
    Foreground,
    /// `foreground = no`: it forks after it has read its configuration.
    Background,
}

enum Life {
    Child(Process),
    Daemon(Daemon),
}

/// A running stunnel with one service.
pub struct Stunnel {
    life: Life,
    /// Where the service accepts connections.
    pub address: SocketAddr,
    log: PathBuf,
}

impl Stunnel {
    /// Starts stunnel with a service of these lines. Its files, `NAME.conf`, `NAME.log` and `NAME.pid`, are in the bed.
    ///
    /// # Errors
    /// It ended instead of listening: what it printed.
    ///
    /// # Panics
    /// It cannot be started, or neither listens nor ends.
    pub fn start(
        bed: &Bed,
        app: &App,
        name: &str,
        place: Place,
        conf: &Path,
        service: &[String],
    ) -> Result<Self, Finished> {
        let file = |kind: &str| bed.path(&format!("{name}.{kind}"));
        let (log, pid) = (file("log"), file("pid"));
        // A log of an earlier run under this name would tell an old address.
        let _ = std::fs::remove_file(&log);
        // Port 0 would do, but a reload binds anew and would move to another one.
        let port = proc::free_port();
        let foreground = if place == Place::Foreground { "yes" } else { "no" };
        let text = format!(
            "foreground = {foreground}\npid = {}\noutput = {}\nsyslog = no\ndebug = info\n\
             [tls]\naccept = 127.0.0.1:{port}\n{}\n",
            pid.display(),
            log.display(),
            service.join("\n")
        );
        std::fs::write(file("conf"), text).expect("a file in the temporary directory");
        let mut command = app.command(conf);
        command.arg(file("conf"));
        let mut process = Process::start(command).unwrap_or_else(|error| panic!("{error}"));
        let started = proc::wait_until(PATIENCE, || {
            if count_bound(&log) > 0 {
                return Some(true);
            }
            // The parent of a daemon ends in any case; a daemon that does not come is only noticed by waiting.
            (place == Place::Foreground && !process.is_running()).then_some(false)
        });
        match started {
            Some(true) => {}
            Some(false) => {
                return Err(process.finish(PATIENCE).unwrap_or_else(|error| panic!("{error}")));
            }
            None => panic!("{} neither listens nor ends: {:?}", app.name, process.printed()),
        }
        let life = match place {
            Place::Foreground => Life::Child(process),
            Place::Background => {
                let daemon = Daemon::from_pid_file(&pid, PATIENCE);
                let end = process.finish(PATIENCE).unwrap_or_else(|error| panic!("{error}"));
                assert!(end.status.success(), "{}: {end:?}", app.name);
                Life::Daemon(daemon)
            }
        };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        Ok(Stunnel { life, address, log })
    }

    /// Its process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        match &self.life {
            Life::Child(process) => process.id(),
            Life::Daemon(daemon) => daemon.0,
        }
    }

    /// What it has logged.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Has it read its configuration again, and waits until it has.
    ///
    /// # Panics
    /// It does not.
    pub fn reload(&self) {
        let before = count_bound(&self.log);
        proc::signal(self.id(), "HUP");
        let done = proc::wait_until(PATIENCE, || (count_bound(&self.log) > before).then_some(()));
        assert!(done.is_some(), "no reload after HUP: {}", self.log());
    }

    /// Ends it by SIGTERM: its exit status where one can be seen, which is not so for a daemon.
    ///
    /// # Panics
    /// It does not end.
    pub fn terminate(self) -> Option<i32> {
        proc::signal(self.id(), "TERM");
        match self.life {
            Life::Child(process) => {
                let end = process.finish(PATIENCE).unwrap_or_else(|error| panic!("{error}"));
                Some(end.status.code().unwrap_or_else(|| panic!("{end:?}")))
            }
            Life::Daemon(daemon) => {
                let gone = proc::wait_until(PATIENCE, || (!proc::runs(daemon.0)).then_some(()));
                assert!(gone.is_some(), "the daemon does not end by SIGTERM");
                None
            }
        }
    }
}

/// How often a stunnel's log says that it listens: once, and once more after each reload.
fn count_bound(log: &Path) -> usize {
    let log = std::fs::read_to_string(log).unwrap_or_default();
    log.matches(" bound to ").count()
}

/// A server in the foreground that was told its port.
pub struct Running {
    process: Process,
    /// Where it accepts connections.
    pub address: SocketAddr,
}

impl Running {
    /// Starts it and waits until its port accepts.
    ///
    /// # Errors
    /// It ended instead: what it printed.
    ///
    /// # Panics
    /// It cannot be started, or neither listens nor ends.
    pub fn start(command: Command, port: u16) -> Result<Self, Finished> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut process = Process::start(command).unwrap_or_else(|error| panic!("{error}"));
        let started = proc::wait_until(PATIENCE, || {
            if TcpStream::connect(address).is_ok() {
                return Some(true);
            }
            (!process.is_running()).then_some(false)
        });
        match started {
            Some(true) => Ok(Running { process, address }),
            Some(false) => Err(process.finish(PATIENCE).unwrap_or_else(|error| panic!("{error}"))),
            None => panic!("neither listens nor ends: {:?}", process.printed()),
        }
    }

    /// Its process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// What it has printed.
    #[must_use]
    pub fn log(&self) -> String {
        let (stdout, stderr) = self.process.printed();
        format!("{stdout}\n{stderr}")
    }

    /// Ends it by a signal: how it ended.
    ///
    /// # Panics
    /// It does not end.
    #[must_use]
    pub fn end(self, signal: &str) -> Finished {
        self.process.signal(signal);
        self.process.finish(PATIENCE).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Starts nginx in the foreground with two workers and a server of these lines; `PORT` in them becomes a free port.
///
/// # Errors
/// It ended instead of listening: what it printed.
///
/// # Panics
/// As [`Running::start`].
pub fn start_nginx(bed: &Bed, conf: &Path, server: &str) -> Result<Running, Finished> {
    start_this_nginx(&App::nginx(), bed, conf, server)
}

/// As [`start_nginx`], for a particular nginx.
///
/// # Errors
/// As [`start_nginx`].
///
/// # Panics
/// As [`Running::start`].
pub fn start_this_nginx(app: &App, bed: &Bed, conf: &Path, server: &str) -> Result<Running, Finished> {
    let home = bed.path("nginx");
    std::fs::create_dir_all(&home).expect("a directory in the temporary directory");
    let port = proc::free_port();
    let mut temporary = String::new();
    for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        temporary.push_str(&format!("  {kind}_temp_path {}/{kind};\n", home.display()));
    }
    let text = format!(
        "daemon off;\nuser {};\nworker_processes 2;\npid {}/pid;\nerror_log stderr notice;\nevents {{}}\n\
         http {{\n  access_log off;\n{temporary}  server {{\n{}\n  }}\n}}\n",
        user_name(),
        home.display(),
        server.replace("PORT", &port.to_string())
    );
    let file = bed.path("nginx.conf");
    std::fs::write(&file, text).expect("a file in the temporary directory");
    let mut command = app.command(conf);
    command.arg("-p").arg(&home).arg("-c").arg(&file);
    Running::start(command, port)
}

/// Starts haproxy in the foreground with these sections after its defaults; `PORT` in them becomes a free port.
///
/// # Errors
/// It ended instead of listening: what it printed.
///
/// # Panics
/// As [`Running::start`].
pub fn start_haproxy(bed: &Bed, conf: &Path, sections: &str) -> Result<Running, Finished> {
    start_this_haproxy(&App::haproxy(), bed, conf, sections)
}

/// As [`start_haproxy`], for a particular haproxy.
///
/// # Errors
/// As [`start_haproxy`].
///
/// # Panics
/// As [`Running::start`].
pub fn start_this_haproxy(app: &App, bed: &Bed, conf: &Path, sections: &str) -> Result<Running, Finished> {
    let port = proc::free_port();
    let text = format!(
        "global\n  nbthread 2\n  hard-stop-after 5s\ndefaults\n  mode http\n  timeout connect 30s\n  timeout client 30s\n\
         \x20 timeout server 30s\n{}\n",
        sections.replace("PORT", &port.to_string())
    );
    let file = bed.path("haproxy.cfg");
    std::fs::write(&file, text).expect("a file in the temporary directory");
    let mut command = app.command(conf);
    command.arg("-db").arg("-f").arg(&file);
    Running::start(command, port)
}

/// The certificate and its key in one file, which is how haproxy wants them.
///
/// # Panics
/// The bed's files cannot be read or written.
#[must_use]
pub fn joined_certificate(bed: &Bed) -> PathBuf {
    let read = |path: &Path| std::fs::read_to_string(path).expect("the bed's certificate");
    let joined = bed.path("joined.pem");
    let text = read(&bed.certificate.certificate) + &read(&bed.certificate.key);
    std::fs::write(&joined, text).expect("a file in the temporary directory");
    joined
}

/// The name of the user that runs us: nginx would give its workers to somebody who cannot read the temporary directory.
fn user_name() -> String {
    let output = Command::new("id").arg("-un").output().expect("the program id");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
