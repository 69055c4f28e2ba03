//! GNOME's programs on the patched OpenSSL, or on the system's with the provider: glib-networking's OpenSSL backend, a small Gio client, and GNOME Web on a virtual screen.

use crate::bed::{self, PATIENCE};
use crate::env;
use crate::proc::{self, Process};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Which OpenSSL glib-networking's backend was built against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// The patched 1.1.1w.
    Patched,
    /// The system's 3.
    System,
}

impl Backend {
    fn directory(self) -> &'static str {
        match self {
            Backend::Patched => "gio",
            Backend::System => "gio3",
        }
    }
}

/// Has a program take its TLS from glib-networking's OpenSSL backend, under an openssl.cnf and with one trusted certificate.
fn on_openssl(command: &mut Command, backend: Backend, conf: &Path, authority: &Path) {
    bed::isolate(command, Some(conf));
    command.env("GIO_EXTRA_MODULES", env::app(backend.directory()));
    command.env("GIO_USE_TLS", "openssl");
    command.env("SSL_CERT_FILE", authority);
}

/// The small Gio client: `count` connections, each with a line there and back.
#[must_use]
pub fn gio_client(backend: Backend, conf: &Path, authority: &Path, port: u16, count: usize) -> Command {
    // Debian's Python has the gi package; another one that comes first in PATH has not.
    let mut command = Command::new("/usr/bin/python3");
    on_openssl(&mut command, backend, conf, authority);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/apps/gio_client.py"));
    command.args(["localhost".to_owned(), port.to_string(), count.to_string()]);
    command
}

/// A virtual screen.
pub struct Screen {
    /// Kept for its end: the screen goes away with it.
    _server: Process,
    display: String,
}

impl Screen {
    /// Starts Xvfb on a free display.
    ///
    /// # Panics
    /// It cannot be started.
    #[must_use]
    pub fn start(size: &str) -> Self {
        let mut command = Command::new("Xvfb");
        command.args(["-displayfd", "1", "-nolisten", "tcp", "-screen", "0", &format!("{size}x24")]);
        let server = Process::start(command).unwrap_or_else(|error| panic!("{error}: run scripts/get-apps browser"));
        let number = server.wait_for(PATIENCE, |stdout, _| stdout.ends_with('\n').then(|| stdout.trim().to_owned()));
        let number = number.unwrap_or_else(|| panic!("Xvfb gives no display: {:?}", server.printed()));
        Screen { _server: server, display: format!(":{number}") }
    }

    /// Writes a picture of all that is on it; gives the number of its colours.
    ///
    /// # Panics
    /// ImageMagick is missing or fails.
    #[must_use]
    pub fn capture(&self, picture: &Path) -> usize {
        let mut import = Command::new("import");
        import.env("DISPLAY", &self.display).args(["-window", "root"]).arg(picture);
        let end = proc::run(import, PATIENCE).unwrap_or_else(|error| panic!("{error}: run scripts/get-apps browser"));
        assert!(end.status.success(), "import: {}", end.all());
        let mut identify = Command::new("identify");
        identify.args(["-format", "%k"]).arg(picture);
        let end = proc::run(identify, PATIENCE).unwrap_or_else(|error| panic!("{error}"));
        end.stdout.trim().parse().unwrap_or_else(|_| panic!("identify: {}", end.all()))
    }
}

/// GNOME Web with a profile of its own, on a virtual screen.
pub struct Browser {
    process: Process,
}

impl Browser {
    /// Opens an address. `home` is a fresh directory for everything that it writes.
    ///
    /// # Panics
    /// It cannot be started.
    #[must_use]
    pub fn open(screen: &Screen, home: &Path, backend: Backend, conf: &Path, authority: &Path, url: &str) -> Self {
        let directory = |name: &str, mode: u32| -> PathBuf {
            let path = home.join(name);
            std::fs::create_dir_all(&path).expect("a directory for the browser");
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&path, mode).expect("the directory is ours");
            path
        };
        let mut command = Command::new("dbus-run-session");
        on_openssl(&mut command, backend, conf, authority);
        command.env("DISPLAY", &screen.display);
        let own = directory("home", 0o755);
        // Settings that are not asked for on the screen, from a file: there is no settings daemon here.
        let settings = directory("home/.config/glib-2.0/settings", 0o755).join("keyfile");
        std::fs::write(settings, "[org/gnome/epiphany]\nask-for-default=false\n").expect("a file for the browser");
        command.env("HOME", own).env("GSETTINGS_BACKEND", "keyfile");
        command.env("XDG_RUNTIME_DIR", directory("run", 0o700));
        for name in
            ["WAYLAND_DISPLAY", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "http_proxy", "https_proxy"]
        {
            command.env_remove(name);
        }
        command.args(["--", "epiphany"]);
        command.arg(format!("--profile={}", directory("profile", 0o755).display())).arg(url);
        // A group of its own: the bus, the browser and its helpers end together.
        command.process_group(0);
        let process = Process::start(command).unwrap_or_else(|error| panic!("{error}: run scripts/get-apps browser"));
        Browser { process }
    }

    /// What it has printed.
    #[must_use]
    pub fn log(&self) -> String {
        let (stdout, stderr) = self.process.printed();
        format!("{stdout}\n{stderr}")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Fails only when the whole group is gone.
        let kill = |signal: &str| proc::try_signal(&format!("-{}", self.process.id()), signal);
        kill("TERM");
        std::thread::sleep(Duration::from_millis(500));
        kill("KILL");
    }
}
