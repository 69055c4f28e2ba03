//! Tells whether an openssl.cnf loads the engine and offers its groups, and which line is wrong.

use engntru_tests::{check, env};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: check-config FILE

Tells whether the patched OpenSSL 1.1.1 loads the engine engntru under the openssl.cnf FILE and offers its groups.
Exit status: 0 it does; 1 it does not, and the lines \"FILE:LINE: what is wrong: what to do\" say why; 2 it could not be tried.
The variable ENGNTRU_OPENSSL names the prefix of that OpenSSL; scripts/check-config sets it.";

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let file = match arguments.as_slice() {
        [flag] if flag == "-h" || flag == "--help" => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        [file] if !file.to_string_lossy().starts_with('-') => PathBuf::from(file),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    let openssl = match env::path(env::OPENSSL) {
        Ok(prefix) => prefix.join("bin/openssl"),
        Err(problem) => {
            eprintln!("check-config: {problem}, or use scripts/check-config");
            return ExitCode::from(2);
        }
    };
    report(&file, &openssl)
}

fn report(file: &Path, openssl: &Path) -> ExitCode {
    let report = match check::check(file, openssl) {
        Ok(report) => report,
        Err(problem) => {
            eprintln!("check-config: {problem}");
            return ExitCode::from(2);
        }
    };
    for finding in &report.findings {
        println!("{finding}");
    }
    for fact in &report.facts {
        println!("seen: {fact}");
    }
    if report.is_right() {
        println!("{}: all right", file.display());
        ExitCode::SUCCESS
    } else {
        println!(
            "{}: NOT right: connections would go on without the engine, and no program would say so",
            file.display()
        );
        ExitCode::FAILURE
    }
}
