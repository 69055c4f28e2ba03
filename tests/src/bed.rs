//! A test bed: a temporary directory with a throw-away certificate, and the openssl programs that meet in it.

use crate::conf::Conf;
use crate::env;
use crate::proc::{self, Finished, Process};
use crate::tap::{Settings, Tap};
use crate::wire::Conversation;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// How long a program may take for something that takes well under a second on an idle machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Code point of sntrup761 (private use).
pub const SNTRUP761: u16 = 0xFEB1;
/// Code point of sntrup857 (private use).
pub const SNTRUP857: u16 = 0xFEB2;
/// Code point of X25519 and sntrup761 (private use).
pub const X25519SNTRUP761: u16 = 0xFEB3;
/// Code point of X25519.
pub const X25519: u16 = 29;
/// Code point of P-256.
pub const P256: u16 = 23;

/// What the tests know of a KEM group, from the published sizes.
#[derive(Clone, Copy, Debug)]
pub struct Kem {
    /// The group's name.
    pub name: &'static str,
    /// The group's code point.
    pub group: u16,
    /// Bytes of an encoded public key, the client's share.
    pub public_key: usize,
    /// Bytes of a ciphertext, the server's share.
    pub ciphertext: usize,
}

/// Both KEM groups.
pub const KEMS: [Kem; 2] = [
    Kem { name: "sntrup761", group: SNTRUP761, public_key: 1158, ciphertext: 1039 },
    Kem { name: "sntrup857", group: SNTRUP857, public_key: 1322, ciphertext: 1184 },
];

/// The KEM groups of the provider: those of the engine, and the hybrid.
pub const PROVIDER_KEMS: [Kem; 3] = [
    KEMS[0],
    KEMS[1],
    Kem { name: "X25519sntrup761", group: X25519SNTRUP761, public_key: 32 + 1158, ciphertext: 32 + 1039 },
];

/// One `openssl` program together with the configuration that it runs with.
#[derive(Clone, Debug)]
pub struct OpenSsl {
    /// The program, after a dynamic linker and its options if it needs another one than the system's.
    program: Vec<PathBuf>,
    /// `None`: no configuration at all.
    conf: Option<PathBuf>,
}

impl OpenSsl {
    /// The program with no configuration.
    #[must_use]
    pub fn bare(program: PathBuf) -> Self {
        OpenSsl { program: vec![program], conf: None }
    }

    /// The program of another Debian, whose packages scripts/get-apps has unpacked under this name.
    ///
    /// # Panics
    /// It is not there.
    #[must_use]
    pub fn of_debian(name: &str) -> Self {
        OpenSsl { program: debian_program(name, "usr/bin/openssl"), conf: None }
    }

    /// The same program with a configuration file.
    #[must_use]
    pub fn with_conf(&self, conf: PathBuf) -> Self {
        OpenSsl { program: self.program.clone(), conf: Some(conf) }
    }

    /// A command line, cut off from whatever OpenSSL settings surround us.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program[0]);
        isolate(&mut command, self.conf.as_deref());
        command.args(&self.program[1..]);
        command.args(arguments);
        command
    }

    /// Runs a command to its end.
    ///
    /// # Panics
    /// It cannot be started or takes longer than a minute.
    #[must_use]
    pub fn run(&self, arguments: &[&str]) -> Finished {
        proc::run(self.command(arguments), PATIENCE).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// A program of another Debian, behind that Debian's own dynamic linker and libraries.
///
/// # Panics
/// scripts/get-apps has not unpacked it.
#[must_use]
pub fn debian_program(name: &str, program: &str) -> Vec<PathBuf> {
    let root = env::app(name);
    let libraries = root.join("usr/lib/x86_64-linux-gnu");
    vec![libraries.join("ld-linux-x86-64.so.2"), "--library-path".into(), libraries, root.join(program)]
}

/// Gives a command its own OpenSSL configuration and takes away every other setting of OpenSSL.
pub fn isolate(command: &mut Command, conf: Option<&Path>) {
    for name in ["OPENSSL_ENGINES", "OPENSSL_MODULES", "SSL_CERT_FILE", "SSL_CERT_DIR", "LD_LIBRARY_PATH"] {
        command.env_remove(name);
    }
    command.env("OPENSSL_CONF", conf.unwrap_or(Path::new("/dev/null")));
}

/// Kinds of throw-away certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// ECDSA over P-256.
    P256,
    /// RSA with 2048 bits.
    Rsa,
    /// Ed25519.
    Ed25519,
}

/// A certificate and its key, as PEM files.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The certificate.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// The directory, the certificate and the programs of one test.
pub struct Bed {
    directory: TempDir,
    /// The patched OpenSSL with the engine.
    pub engine: OpenSsl,
    /// The patched OpenSSL without the engine.
    pub bare: OpenSsl,
    /// The system's OpenSSL 3, which knows nothing of us.
    pub system: OpenSsl,
    /// The server's certificate.
    pub certificate: Certificate,
}

impl Bed {
    /// A fresh bed. The engine is loaded from an openssl.cnf with no group list.
    ///
    /// # Panics
    /// The builds under test are missing, or the openssl tool cannot make a certificate.
    #[must_use]
    pub fn new() -> Self {
        Self::with_key(KeyKind::P256)
    }

    /// A fresh bed with a certificate of the given kind.
    ///
    /// # Panics
    /// As [`Bed::new`].
    #[must_use]
    pub fn with_key(kind: KeyKind) -> Self {
        let directory = tempfile::Builder::new().prefix("engntru-").tempdir().expect("a temporary directory");
        Self::lay(directory, kind)
    }

    /// A fresh bed in a directory of this name, which must not be there yet and which stays.
    ///
    /// # Panics
    /// The directory cannot be made, or as [`Bed::new`].
    #[must_use]
    pub fn kept(path: &Path) -> Self {
        let (parent, name) = (path.parent().unwrap_or(Path::new(".")), path.file_name().unwrap_or_default());
        let directory = tempfile::Builder::new().prefix(name).rand_bytes(0).disable_cleanup(true).tempdir_in(parent);
        Self::lay(directory.unwrap_or_else(|error| panic!("{}: {error}", path.display())), KeyKind::P256)
    }

    fn lay(directory: TempDir, kind: KeyKind) -> Self {
        let bare = OpenSsl::bare(env::openssl().join("bin/openssl"));
        let conf = Conf::engine(&env::engine()).write(directory.path().join("engine.cnf"));
        let engine = bare.with_conf(conf.expect("an openssl.cnf in the temporary directory"));
        let system = OpenSsl::bare(env::system_program().to_path_buf());
        let certificate = make_certificate(&bare, directory.path(), kind);
        Bed { directory, engine, bare, system, certificate }
    }

    /// A path in the bed's directory.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// An openssl.cnf in the directory that loads the engine and, with `groups`, lists them.
    ///
    /// # Panics
    /// The file cannot be written.
    #[must_use]
    pub fn engine_conf(&self, groups: Option<&str>) -> PathBuf {
        let mut conf = Conf::engine(&env::engine());
        if let Some(groups) = groups {
            conf = conf.groups(groups);
        }
        let path = self.path(&format!("{}.cnf", groups.unwrap_or("engine").replace(':', "-")));
        conf.write(path).expect("a file in the temporary directory")
    }

    /// The patched OpenSSL with this configuration, written to a file of this name.
    ///
    /// # Panics
    /// The file cannot be written.
    #[must_use]
    pub fn configured(&self, name: &str, conf: &Conf) -> OpenSsl {
        self.with(&self.bare, name, conf)
    }

    /// A program with the provider and nothing else in its openssl.cnf.
    ///
    /// # Panics
    /// The provider is not there, or the file cannot be written.
    #[must_use]
    pub fn with_provider(&self, openssl: &OpenSsl) -> OpenSsl {
        self.with(openssl, "provider.cnf", &Conf::provider(&env::provider()))
    }

    /// A program with this configuration, written to a file of this name.
    ///
    /// # Panics
    /// The file cannot be written.
    #[must_use]
    pub fn with(&self, openssl: &OpenSsl, name: &str, conf: &Conf) -> OpenSsl {
        openssl.with_conf(conf.write(self.path(name)).expect("an openssl.cnf in the temporary directory"))
    }

    /// Starts `openssl s_server -rev`, which sends every line back reversed.
    ///
    /// # Errors
    /// The server ended instead of listening: what it printed.
    ///
    /// # Panics
    /// The program cannot be started.
    pub fn try_server(&self, openssl: &OpenSsl, arguments: &[&str]) -> Result<Server, Finished> {
        let mut command = openssl.command(&["s_server", "-accept", "127.0.0.1:0", "-rev"]);
        command.arg("-cert").arg(&self.certificate.certificate).arg("-key").arg(&self.certificate.key);
        command.args(arguments);
        Server::start(command)
    }

    /// As [`Bed::try_server`], for a server that has to start.
    ///
    /// # Panics
    /// The server did not start.
    #[must_use]
    pub fn server(&self, openssl: &OpenSsl, arguments: &[&str]) -> Server {
        self.try_server(openssl, arguments).unwrap_or_else(|end| panic!("s_server {arguments:?} ended: {end:?}"))
    }

    /// Connects `openssl s_client`, checks the certificate, sends a line and waits for it to come back reversed.
    ///
    /// # Panics
    /// The program cannot be started, or hangs.
    #[must_use]
    pub fn client(&self, openssl: &OpenSsl, server: SocketAddr, arguments: &[&str]) -> ClientRun {
        let mut command = openssl.command(&["s_client", "-connect", &server.to_string()]);
        command.arg("-CAfile").arg(&self.certificate.certificate).arg("-verify_return_error");
        command.args(arguments);
        talk(command)
    }

    /// A whole connection through a tap: server, tap, client.
    ///
    /// # Panics
    /// The server does not start, or what passed is not TLS.
    #[must_use]
    pub fn connect(&self, server: (&OpenSsl, &[&str]), client: (&OpenSsl, &[&str])) -> Meeting {
        self.connect_through(Settings::default(), server, client)
    }

    /// As [`Bed::connect`], through a tap that does something to the bytes.
    ///
    /// # Panics
    /// As [`Bed::connect`].
    #[must_use]
    pub fn connect_through(
        &self,
        settings: Settings,
        (server_program, server_arguments): (&OpenSsl, &[&str]),
        (client_program, client_arguments): (&OpenSsl, &[&str]),
    ) -> Meeting {
        let server = self.server(server_program, server_arguments);
        let tap = Tap::start(server.address, settings).expect("a loopback socket");
        let client = self.client(client_program, tap.address(), client_arguments);
        // A client that fails before it connects leaves nothing to report.
        let said = if client.end.stdout.contains("CONNECTED") {
            let observed = tap.next(PATIENCE).expect("the tap reports a connection when it is over");
            observed.conversation().unwrap_or_else(|error| panic!("{error}; the client printed {}", client.end.all()))
        } else {
            Conversation::default()
        };
        Meeting { client, said, server_log: server.stop() }
    }
}

impl Default for Bed {
    fn default() -> Self {
        Bed::new()
    }
}

fn make_certificate(openssl: &OpenSsl, directory: &Path, kind: KeyKind) -> Certificate {
    let certificate = directory.join("certificate.pem");
    let key = directory.join("key.pem");
    let request = directory.join("request.cnf");
    std::fs::write(&request, "[req]\ndistinguished_name = name\n[name]\n").expect("a file in the temporary directory");
    let mut command = openssl.command(&["req", "-x509", "-nodes", "-days", "30", "-subj", "/CN=localhost"]);
    command.args(["-addext", "subjectAltName = DNS:localhost, IP:127.0.0.1"]);
    match kind {
        KeyKind::P256 => command.args(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]),
        KeyKind::Rsa => command.args(["-newkey", "rsa:2048"]),
        KeyKind::Ed25519 => command.args(["-newkey", "ed25519"]),
    };
    command.arg("-config").arg(request).arg("-keyout").arg(&key).arg("-out").arg(&certificate);
    let end = proc::run(command, PATIENCE).unwrap_or_else(|error| panic!("{error}"));
    assert!(end.status.success(), "openssl req failed: {}", end.all());
    Certificate { certificate, key }
}

/// A running s_server.
pub struct Server {
    process: Process,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Server {
    /// Starts a server command that says `ACCEPT 127.0.0.1:PORT` when it listens.
    ///
    /// # Errors
    /// The server ended instead of listening.
    ///
    /// # Panics
    /// The program cannot be started.
    pub fn start(command: Command) -> Result<Self, Finished> {
        let process = Process::start(command).unwrap_or_else(|error| panic!("{error}"));
        let port = process.wait_for(PATIENCE, |stdout, _| {
            let line = stdout.lines().find_map(|line| line.strip_prefix("ACCEPT 127.0.0.1:"))?;
            // The line has to be complete before its number is.
            stdout.contains(&format!("ACCEPT 127.0.0.1:{line}\n")).then(|| line.trim().parse().ok())?
        });
        match port {
            Some(port) => Ok(Server { process, address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)) }),
            None => Err(process.finish(PATIENCE).unwrap_or_else(|error| panic!("{error}"))),
        }
    }

    /// Whether it still runs.
    #[must_use]
    pub fn is_running(&mut self) -> bool {
        self.process.is_running()
    }

    /// What it has printed so far.
    #[must_use]
    pub fn log(&self) -> String {
        let (stdout, stderr) = self.process.printed();
        format!("{stdout}\n{stderr}")
    }

    /// Waits until its log holds this text.
    #[must_use]
    pub fn logs(&self, text: &str) -> bool {
        let found = |stdout: &str, stderr: &str| (stdout.contains(text) || stderr.contains(text)).then_some(());
        self.process.wait_for(Duration::from_secs(10), found).is_some()
    }

    /// Sends it a signal by name, such as TERM, and waits for its end.
    ///
    /// # Panics
    /// It does not end, or the system cannot tell how.
    #[must_use]
    pub fn end(self, signal: &str) -> Finished {
        self.process.signal(signal);
        self.process.finish(PATIENCE).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Stops it and gives all that it printed.
    ///
    /// # Panics
    /// The system cannot tell how it ended.
    #[must_use]
    pub fn stop(self) -> String {
        self.process.stop().unwrap_or_else(|error| panic!("{error}")).all()
    }
}

/// How one s_client run went.
#[derive(Clone, Debug)]
pub struct ClientRun {
    /// Exit status and everything printed.
    pub end: Finished,
    /// Whether the line came back reversed: application data flowed both ways.
    pub echoed: bool,
}

impl ClientRun {
    /// Data flowed both ways and the client ended well.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.echoed && self.end.status.success()
    }
}

/// What both programs and the wire say of one connection.
pub struct Meeting {
    /// The client.
    pub client: ClientRun,
    /// What was said in the clear; empty when the client never connected.
    pub said: Conversation,
    /// The server's output.
    pub server_log: String,
}

impl fmt::Debug for Meeting {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for hello in self.said.client_hellos() {
            let shares = hello.key_shares.iter().flatten();
            let shares: Vec<_> = shares.map(|share| (share.group, share.key_exchange.len())).collect();
            writeln!(out, "ClientHello: groups {:?}, shares {shares:?}", hello.groups)?;
        }
        match self.said.negotiated() {
            Some(negotiated) => writeln!(out, "negotiated: {negotiated}")?,
            None => writeln!(out, "nothing negotiated")?,
        }
        writeln!(out, "alerts: client {:?}, server {:?}", self.said.client.alert, self.said.server.alert)?;
        writeln!(out, "client: {}, echoed: {}", self.client.end.status, self.client.echoed)?;
        writeln!(out, "client's output: {}\nserver's output: {}", self.client.end.all(), self.server_log)
    }
}

impl Meeting {
    /// The group that keyed a connection that worked.
    ///
    /// # Panics
    /// The connection did not work, or was not TLS 1.3.
    #[must_use]
    pub fn group(&self) -> u16 {
        assert!(self.client.succeeded(), "the connection failed: {self:?}");
        let negotiated = self.said.negotiated().expect("a ServerHello");
        assert_eq!(negotiated.version, crate::wire::TLS13);
        negotiated.group.expect("a key share in the ServerHello")
    }
}

/// Runs an s_client command line: one line there and back, then a clean end.
///
/// # Panics
/// The program cannot be started, or hangs.
#[must_use]
pub fn talk(command: Command) -> ClientRun {
    let mut client = Process::start(command).unwrap_or_else(|error| panic!("{error}"));
    client.say("there and back again\n");
    let back = "niaga kcab dna ereht";
    let echoed = client.wait_for(PATIENCE, |stdout, _| stdout.contains(back).then_some(())).is_some();
    // s_client ends the connection on a line that starts with Q.
    client.say("Q\n");
    let end = client.finish(PATIENCE).unwrap_or_else(|error| panic!("{error}"));
    ClientRun { end, echoed }
}
