//! The OpenSSLs that engine and provider are tested with, and how test programs in C are built for them and run.
//!
//! A program is looked for in the crate's own tests/c first, then among those in common/tests/c, which serve both.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};
use std::{env, fs, process};

/// Where an OpenSSL lies.
pub(crate) enum Place {
    /// It is the system's.
    System,
    /// It was installed under this prefix.
    Prefix(PathBuf),
    /// It is one of another Debian, whose packages were unpacked here, with their own C library.
    Debian(PathBuf),
}

/// An OpenSSL and the module that is tested with it.
pub(crate) struct Target {
    /// Short, for file names.
    pub(crate) name: &'static str,
    /// Where the OpenSSL lies.
    pub(crate) place: Place,
    /// The engine or the provider.
    pub(crate) module: PathBuf,
}

impl Target {
    /// Checks that the OpenSSL is of this series.
    pub(crate) fn require(self, series: &str) -> Self {
        let version = succeed(self.openssl().arg("version"));
        assert!(version.starts_with(series), "{series} was expected, but its openssl says {version}");
        self
    }

    /// The prefix, if there is one.
    pub(crate) fn prefix(&self) -> Option<&Path> {
        match &self.place {
            Place::Prefix(prefix) => Some(prefix),
            _ => None,
        }
    }

    /// The command-line tool, with no configuration and no directory of modules from outside.
    pub(crate) fn openssl(&self) -> Command {
        let mut command = match &self.place {
            Place::System => Command::new("/usr/bin/openssl"),
            Place::Prefix(prefix) => Command::new(prefix.join("bin/openssl")),
            Place::Debian(root) => {
                let mut command = Command::new(libraries(root).join("ld-linux-x86-64.so.2"));
                command.arg("--library-path").arg(libraries(root)).arg(root.join("usr/bin/openssl"));
                command
            }
        };
        clean_environment(&mut command);
        match &self.place {
            Place::System => {}
            Place::Prefix(prefix) => drop(command.env("LD_LIBRARY_PATH", prefix.join("lib"))),
            Place::Debian(root) => drop(command.env("OPENSSL_MODULES", libraries(root).join("ossl-modules"))),
        }
        command
    }

    /// Compiles `program`.c against this OpenSSL; `link` comes last on the command line.
    pub(crate) fn compile_with(&self, program: &str, link: &[&str]) -> PathBuf {
        // One at a time: the tests of a file run in parallel and may want the same program.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let out = scratch().join(format!("{}-{program}", self.name));
        let unfinished = out.with_extension(format!("{}.new", process::id()));
        let mut cc = Command::new("cc");
        cc.args(["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]);
        cc.args(["-Wno-deprecated-declarations", "-Wl,-z,now"]);
        match &self.place {
            Place::System => {}
            Place::Prefix(prefix) => {
                cc.arg("-I").arg(prefix.join("include")).arg("-L").arg(prefix.join("lib"));
                cc.arg(format!("-Wl,-rpath,{}", prefix.join("lib").display()));
            }
            Place::Debian(root) => {
                let (include, lib) = (root.join("usr/include"), libraries(root));
                cc.arg("-I").arg(&include).arg("-I").arg(include.join("x86_64-linux-gnu")).arg("-L").arg(&lib);
                let linker = lib.join("ld-linux-x86-64.so.2");
                cc.arg(format!("-Wl,--allow-shlib-undefined,--dynamic-linker={}", linker.display()));
                cc.arg(format!("-Wl,-rpath,{}", lib.display()));
            }
        }
        for directory in c_directories() {
            cc.arg("-I").arg(directory);
        }
        cc.arg("-I").arg(scratch()).arg(source_of(program)).arg("-o").arg(&unfinished);
        // scripts/sanitize: a module that is built with a sanitizer takes its functions from the program.
        if let Some(runtime) = env::var_os("ENGNTRU_SANITIZER") {
            cc.args(["-rdynamic", "-Wl,--whole-archive"]).arg(runtime).arg("-Wl,--no-whole-archive");
            cc.args(["-lm", "-ldl", "-lrt", "-lresolv", "-lstdc++"]);
        }
        succeed(cc.args(link));
        fs::rename(&unfinished, &out).expect("the test program can be put into place");
        out
    }

    /// Compiles `program`.c and links it with this OpenSSL's shared libcrypto. Its functions can take the place of the C
    /// library's in the module.
    pub(crate) fn compile(&self, program: &str) -> PathBuf {
        self.compile_with(program, &["-rdynamic", "-lcrypto", "-lpthread"])
    }

    /// A command that runs the test program with the module as its first argument.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.compile(program));
        clean_environment(&mut command);
        command.arg(&self.module);
        command
    }

    /// The same under valgrind, which fails on invalid accesses, on use of uninitialised memory and on lost memory.
    pub(crate) fn command_under_valgrind(&self, program: &str) -> Command {
        let mut command = Command::new("valgrind");
        clean_environment(&mut command);
        command.args(["-q", "--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect"]);
        command.arg(self.compile(program)).arg(&self.module);
        command
    }

    /// This crate's library with the feature fault-injection, built for this OpenSSL.
    pub(crate) fn fault_injection(&self, library: &str) -> PathBuf {
        let directory = scratch().join(format!("fault-injection-{}", self.name));
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--locked", "--package", env!("CARGO_PKG_NAME"), "--lib"]);
        cargo.args(["--features", "fault-injection"]);
        cargo.arg("--target-dir").arg(&directory).current_dir(env!("CARGO_MANIFEST_DIR"));
        match &self.place {
            Place::Prefix(prefix) => cargo.env("OPENSSL_DIR", prefix),
            _ => cargo.env_remove("OPENSSL_DIR"),
        };
        succeed(&mut cargo);
        directory.join("debug").join(library)
    }
}

/// The libraries of an unpacked Debian.
fn libraries(root: &Path) -> PathBuf {
    root.join("usr/lib/x86_64-linux-gnu")
}

/// No configuration and no directory of modules from outside.
pub(crate) fn clean_environment(command: &mut Command) {
    command.env("OPENSSL_CONF", "/dev/null");
    for variable in ["OPENSSL_ENGINES", "OPENSSL_MODULES", "LD_LIBRARY_PATH"] {
        command.env_remove(variable);
    }
}

/// The path in an environment variable, which scripts/test sets.
pub(crate) fn path(variable: &str) -> PathBuf {
    let value = env::var_os(variable).filter(|value| !value.is_empty());
    let Some(value) = value else {
        panic!("{variable} is not set: run scripts/test, which builds what is tested and sets it");
    };
    let path = PathBuf::from(value);
    assert!(path.exists(), "{variable} names {}, which does not exist: run scripts/test", path.display());
    path
}

/// A directory for what the tests of this crate build and write.
pub(crate) fn scratch() -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(env!("CARGO_PKG_NAME"));
    fs::create_dir_all(&directory).expect("the scratch directory can be made");
    directory
}

fn c_directories() -> [PathBuf; 2] {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    [own.join("tests/c"), own.join("../common/tests/c")]
}

/// The source of a test program.
pub(crate) fn source_of(program: &str) -> PathBuf {
    let mut places = c_directories().into_iter().map(|directory| directory.join(program).with_extension("c"));
    places.find(|file| file.exists()).unwrap_or_else(|| panic!("there is no {program}.c"))
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
