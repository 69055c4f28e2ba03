//! The OpenSSLs that the engine is tested with, and how test programs in C are built for them and run.

#![allow(dead_code, reason = "each test file uses its part")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};
use std::{env, fs, process};

/// An OpenSSL and the engine that was built for it.
pub(crate) struct Target {
    /// Short, for file names.
    pub(crate) name: &'static str,
    /// The installation's prefix; none for the system's.
    pub(crate) prefix: Option<PathBuf>,
    /// libengntru.so.
    pub(crate) engine: PathBuf,
}

impl Target {
    /// OpenSSL 1.1.1 at ENGNTRU_OPENSSL with the engine ENGNTRU_ENGINE.
    pub(crate) fn openssl_1_1_1() -> Self {
        let target = Self { name: "1.1.1", prefix: Some(path("ENGNTRU_OPENSSL")), engine: path("ENGNTRU_ENGINE") };
        target.check_version("OpenSSL 1.1.1");
        target
    }

    /// The system's OpenSSL 3 with the engine ENGNTRU_ENGINE_3.
    pub(crate) fn openssl_3() -> Self {
        let target = Self { name: "3", prefix: None, engine: path("ENGNTRU_ENGINE_3") };
        target.check_version("OpenSSL 3.");
        target
    }

    fn check_version(&self, wanted: &str) {
        let version = succeed(self.openssl().arg("version"));
        assert!(version.starts_with(wanted), "{wanted} was expected, but its openssl says {version}");
    }

    /// The command-line tool, with no configuration and no engine directory from outside.
    pub(crate) fn openssl(&self) -> Command {
        let mut command = match &self.prefix {
            Some(prefix) => Command::new(prefix.join("bin/openssl")),
            None => Command::new("/usr/bin/openssl"),
        };
        self.clean_environment(&mut command);
        if let Some(prefix) = &self.prefix {
            command.env("LD_LIBRARY_PATH", prefix.join("lib"));
        }
        command
    }

    fn clean_environment(&self, command: &mut Command) {
        command.env("OPENSSL_CONF", "/dev/null").env_remove("OPENSSL_ENGINES").env_remove("LD_LIBRARY_PATH");
    }

    /// Compiles tests/c/`program`.c against this OpenSSL; `link` comes last on the command line.
    pub(crate) fn compile_with(&self, program: &str, link: &[&str]) -> PathBuf {
        // One at a time: the tests of a file run in parallel and may want the same program.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let source = source_of(program);
        let out = scratch().join(format!("{}-{program}", self.name));
        let unfinished = out.with_extension(format!("{}.new", process::id()));
        let mut cc = Command::new("cc");
        cc.args(["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]);
        cc.args(["-Wno-deprecated-declarations", "-Wl,-z,now"]);
        if let Some(prefix) = &self.prefix {
            cc.arg("-I").arg(prefix.join("include")).arg("-L").arg(prefix.join("lib"));
            cc.arg(format!("-Wl,-rpath,{}", prefix.join("lib").display()));
        }
        cc.arg("-I").arg(scratch()).arg(&source).arg("-o").arg(&unfinished);
        // scripts/sanitize: an engine that is built with a sanitizer takes its functions from the program.
        if let Some(runtime) = env::var_os("ENGNTRU_SANITIZER") {
            cc.args(["-rdynamic", "-Wl,--whole-archive"]).arg(runtime).arg("-Wl,--no-whole-archive");
            cc.args(["-lm", "-ldl", "-lrt", "-lresolv", "-lstdc++"]);
        }
        succeed(cc.args(link));
        fs::rename(&unfinished, &out).expect("the test program can be put into place");
        out
    }

    /// Compiles tests/c/`program`.c and links it with this OpenSSL's shared libcrypto.
    pub(crate) fn compile(&self, program: &str) -> PathBuf {
        self.compile_with(program, &["-lcrypto", "-lpthread"])
    }

    /// A command that runs the test program with the engine as its first argument.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.compile(program));
        self.clean_environment(&mut command);
        command.arg(&self.engine);
        command
    }

    /// The same under valgrind, which fails on invalid accesses, on use of uninitialised memory and on lost memory.
    pub(crate) fn command_under_valgrind(&self, program: &str) -> Command {
        let mut command = Command::new("valgrind");
        self.clean_environment(&mut command);
        command.args(["-q", "--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect"]);
        command.arg(self.compile(program)).arg(&self.engine);
        command
    }

    /// The engine with the feature fault-injection, built for this OpenSSL.
    pub(crate) fn fault_injection_engine(&self) -> PathBuf {
        let directory = scratch().join(format!("fault-injection-{}", self.name));
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--locked", "--package", "engntru", "--features", "fault-injection"]);
        cargo.arg("--target-dir").arg(&directory).current_dir(env!("CARGO_MANIFEST_DIR"));
        match &self.prefix {
            Some(prefix) => cargo.env("OPENSSL_DIR", prefix),
            None => cargo.env_remove("OPENSSL_DIR"),
        };
        succeed(&mut cargo);
        directory.join("debug/libengntru.so")
    }

    /// Writes an openssl.cnf whose section of the engine has these lines.
    pub(crate) fn configuration(&self, name: &str, lines: &[&str]) -> PathBuf {
        let file = scratch().join(format!("{}-{name}.cnf", self.name));
        let lines = lines.join("\n").replace("ENGINE", &self.engine.display().to_string());
        let text =
            format!("openssl_conf = init\n[init]\nengines = engines\n[engines]\nkems = engine\n[engine]\n{lines}\n");
        fs::write(&file, text).expect("the configuration can be written");
        file
    }
}

/// Makes two tests of each function, one for each OpenSSL.
#[macro_export]
macro_rules! on_each_openssl {
    ($($(#[$attribute:meta])* fn $name:ident($target:ident) $body:block)+) => {
        $($(#[$attribute])* fn $name($target: &Target) $body)+

        mod openssl_1_1_1 {
            $(#[test] fn $name() { super::$name(&super::Target::openssl_1_1_1()) })+
        }

        mod openssl_3 {
            $(#[test] fn $name() { super::$name(&super::Target::openssl_3()) })+
        }
    };
}

/// The path in an environment variable, which scripts/test sets.
fn path(variable: &str) -> PathBuf {
    let value = env::var_os(variable).filter(|value| !value.is_empty());
    let Some(value) = value else {
        panic!("{variable} is not set: run scripts/test, which builds OpenSSL and the engine and sets it");
    };
    let path = PathBuf::from(value);
    assert!(path.exists(), "{variable} names {}, which does not exist: run scripts/test", path.display());
    path
}

/// A directory for what the tests build and write.
pub(crate) fn scratch() -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("engine");
    fs::create_dir_all(&directory).expect("the scratch directory can be made");
    directory
}

pub(crate) fn source_of(program: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(program).with_extension("c")
}

/// Runs a command; what it printed to standard output and standard error.
pub(crate) fn run(command: &mut Command) -> (Output, String, String) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} cannot be run: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    (output, stdout, stderr)
}

/// Runs a command that must succeed, and gives its standard output.
pub(crate) fn succeed(command: &mut Command) -> String {
    let (output, stdout, stderr) = run(command);
    assert!(output.status.success(), "{command:?}: {}\n{stdout}\n{stderr}", output.status);
    stdout
}

/// Runs a test program, which must end with "`name`: ok", and say nothing on standard error.
pub(crate) fn pass(name: &str, command: &mut Command) -> String {
    let (output, stdout, stderr) = run(command);
    let ended = stdout.lines().last().is_some_and(|line| line.starts_with(&format!("{name}: ok")));
    assert!(
        output.status.success() && ended && stderr.is_empty(),
        "{command:?}: {}\n{stdout}\n{stderr}",
        output.status
    );
    stdout
}
