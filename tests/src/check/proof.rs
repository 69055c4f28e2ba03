//! Lets the real OpenSSL answer: which hello does it send, does it load that engine, does it take that line?

use crate::bed::{PATIENCE, isolate};
use crate::conf::Conf;
use crate::proc::{self, Process};
use crate::raw::RawServer;
use crate::wire::ClientHello;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// The group that a probe sets after the line in question: when it shows in the hello, OpenSSL got past that line.
const SENTINEL: (&str, u16) = ("P-521", 25);

/// Asks one `openssl` program.
pub(super) struct Prober {
    program: PathBuf,
    directory: TempDir,
}

impl Prober {
    /// # Errors
    /// The program is not there, does not run, or is not of the series 1.1.1.
    pub(super) fn new(program: &Path) -> Result<Self, String> {
        let directory = tempfile::tempdir().map_err(|error| format!("no temporary directory: {error}"))?;
        let prober = Prober { program: program.to_path_buf(), directory };
        let version = prober.run(None, &["version"])?;
        if version.starts_with("OpenSSL 1.1.1") {
            Ok(prober)
        } else {
            Err(format!("{} is not OpenSSL 1.1.1: it says \"{}\"", program.display(), version.trim()))
        }
    }

    fn command(&self, conf: Option<&Path>, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        isolate(&mut command, conf);
        // A user's engines directory is part of what is being checked.
        if let Some(engines) = std::env::var_os("OPENSSL_ENGINES") {
            command.env("OPENSSL_ENGINES", engines);
        }
        command.args(arguments);
        command
    }

    /// Everything that a command prints.
    fn run(&self, conf: Option<&Path>, arguments: &[&str]) -> Result<String, String> {
        let end = proc::run(self.command(conf, arguments), PATIENCE).map_err(|error| error.to_string())?;
        Ok(end.all())
    }

    /// Whether `openssl engine` lists engntru as available under a configuration.
    pub(super) fn loads_engine(&self, conf: &Path) -> Result<bool, String> {
        let printed = self.run(Some(conf), &["engine", "-t"])?;
        let mut lines = printed.lines().skip_while(|line| !line.starts_with("(engntru)"));
        Ok(lines.next().is_some() && lines.next().is_some_and(|line| line.contains("[ available ]")))
    }

    /// The ClientHello of s_client under a configuration, or what it printed instead of sending one.
    pub(super) fn hello(&self, conf: &Path) -> Result<Result<ClientHello, String>, String> {
        let socket = |error: std::io::Error| format!("no answer from a loopback socket: {error}");
        let server = RawServer::new().map_err(socket)?;
        let address = server.address().map_err(socket)?.to_string();
        let command = self.command(Some(conf), &["s_client", "-connect", &address]);
        let mut client = Process::start(command).map_err(|error| error.to_string())?;
        let mut last_try = false;
        loop {
            if let Some((_, said)) = server.accept(Duration::from_millis(100)).map_err(socket)? {
                return match said.client_hellos().first() {
                    Some(hello) => Ok(Ok((*hello).clone())),
                    None => Err("s_client sent something else than a ClientHello".to_owned()),
                };
            }
            if last_try {
                let printed = client.finish(PATIENCE).map_err(|error| error.to_string())?;
                return Ok(Err(first_reason(&printed.stderr)));
            }
            // A client that is over may still have a connection waiting in the queue.
            last_try = !client.is_running();
        }
    }

    /// Whether OpenSSL gets past one command of a `system_default` section, given as `NAME = VALUE`.
    pub(super) fn takes_tls_command(&self, name: &str, value: &str) -> Result<bool, String> {
        // Braces, quotes and comments are over when a value comes here, so that these have to be guarded again.
        let quoted: String =
            value.chars().flat_map(|c| [Some('\\').filter(|_| "\\$#\"'`".contains(c)), Some(c)]).flatten().collect();
        let conf =
            Conf { ssl: vec![format!("a.{name} = {quoted}"), format!("Groups = {}", SENTINEL.0)], ..Conf::default() };
        let path = conf.write(self.directory.path().join("probe.cnf")).map_err(|error| error.to_string())?;
        let hello = self.hello(&path)?;
        Ok(hello.is_ok_and(|hello| hello.groups.as_deref() == Some(&[SENTINEL.1])))
    }

    /// Loads an engine by its path and gives it control commands (`NAME`, `VALUE`), the way a configuration does.
    pub(super) fn load(&self, path: &str, commands: &[(&str, &str)]) -> Result<Loading, String> {
        let loading = [format!("SO_PATH:{path}"), "LIST_ADD:2".to_owned(), "LOAD".to_owned()];
        let controls = commands.iter().map(|(name, value)| match *value {
            // In a configuration this value stands for none at all.
            "EMPTY" => (*name).to_owned(),
            value => format!("{name}:{value}"),
        });
        let mut arguments = vec!["engine".to_owned(), "-v".to_owned()];
        arguments.extend(loading.into_iter().chain(controls).flat_map(|step| ["-pre".to_owned(), step]));
        arguments.push("dynamic".to_owned());
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let printed = self.run(None, &arguments)?;
        // Each step's outcome, with what is printed about it.
        let mut steps: Vec<(bool, String)> = Vec::new();
        for line in printed.lines() {
            match (line.starts_with("[Success]: "), line.starts_with("[Failure]: "), steps.last_mut()) {
                (false, false, Some((_, text))) => *text += &format!("{line}\n"),
                (false, false, None) => {}
                (success, _, _) => steps.push((success, String::new())),
            }
        }
        if let Some((_, text)) = steps.iter().take(3).find(|(success, _)| !success) {
            return Ok(Loading::Failed { reason: first_reason(text) });
        }
        let id = printed.lines().find_map(|line| line.strip_prefix("Loaded: (")?.split_once(')'));
        let names = printed.lines().filter(|line| line.starts_with("     ")).flat_map(|line| line.split(','));
        Ok(Loading::Loaded {
            id: id.map(|(id, _)| id.to_owned()).unwrap_or_default(),
            known: names.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect(),
            refused: steps
                .iter()
                .skip(3)
                .position(|(success, _)| !success)
                .map(|at| (at, first_reason(&steps[at + 3].1))),
        })
    }

    /// Whether OpenSSL finds the engine by its id alone, in its directory of engines.
    pub(super) fn finds_engine(&self) -> Result<bool, String> {
        Ok(self.run(None, &["engine", "-t", "engntru"])?.contains("[ available ]"))
    }
}

/// How loading an engine went.
#[derive(Debug)]
pub(super) enum Loading {
    /// It was not loaded.
    Failed {
        /// OpenSSL's reason.
        reason: String,
    },
    /// It was.
    Loaded {
        /// Its id.
        id: String,
        /// The names of its control commands.
        known: Vec<String>,
        /// The first command that it did not take, by index, and its reason.
        refused: Option<(usize, String)>,
    },
}

/// What OpenSSL's first error line says: its reason and its details, or the first line of anything else.
fn first_reason(printed: &str) -> String {
    // PID:error:CODE:LIBRARY:FUNCTION:REASON:FILE:LINE:DETAILS
    let error = printed.lines().find_map(|line| line.split_once(":error:"));
    match error {
        Some((_, error)) => {
            let mut fields = error.splitn(7, ':');
            let reason = fields.nth(3).unwrap_or(error);
            match fields.nth(2).filter(|details| !details.is_empty()) {
                Some(details) => format!("{reason}: {details}"),
                None => reason.to_owned(),
            }
        }
        None => printed.lines().find(|line| !line.trim().is_empty()).unwrap_or("nothing").trim().to_owned(),
    }
}
