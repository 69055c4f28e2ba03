//! Tells whether an openssl.cnf loads the engine and offers its groups, and which line is wrong.

use engntru_tests::check::{self, Report};
use engntru_tests::env;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: check-config FILE [APPLICATION-CONFIG]
       check-config --process PID

Tells whether the patched OpenSSL 1.1.1 loads the engine engntru under the openssl.cnf FILE and offers its groups; with the
configuration of stunnel, nginx, haproxy or curl also whether that application does. --process looks at a program that runs: which
OpenSSL and whether the engine are loaded in it.
Exit status: 0 it does; 1 it does not, and the lines \"FILE:LINE: what is wrong: what to do\" say why; 2 it could not be tried.
The variable ENGNTRU_OPENSSL names the prefix of that OpenSSL; scripts/check-config sets it.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["-h" | "--help"] = arguments.as_slice() {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let is_file = |name: &&str| !name.starts_with('-');
    let right_use = match arguments.as_slice() {
        ["--process", _] => true,
        files => (1..=2).contains(&files.len()) && files.iter().all(is_file),
    };
    if !right_use {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    }
    let prefix = match env::path(env::OPENSSL) {
        Ok(prefix) => prefix,
        Err(problem) => {
            eprintln!("check-config: {problem}, or use scripts/check-config");
            return ExitCode::from(2);
        }
    };
    let openssl = prefix.join("bin/openssl");
    let mut worst = 0;
    let mut judge = |name: &str, effect: &str, report: Result<Report, String>| {
        worst = worst.max(match report {
            Ok(report) => tell(name, effect, &report),
            Err(problem) => {
                eprintln!("check-config: {problem}");
                2
            }
        });
    };
    if let ["--process", process] = arguments.as_slice() {
        judge(
            &format!("process {process}"),
            "its connections do not use the engine",
            check::check_process(process, &prefix),
        );
        return ExitCode::from(worst);
    }
    let silence = "connections would go on without the engine, and no program would say so";
    judge(arguments[0], silence, check::check(Path::new(arguments[0]), &openssl));
    if let Some(file) = arguments.get(1) {
        let effect = "the application would not start, or not use the engine";
        judge(file, effect, check::check_application(Path::new(file), &openssl));
    }
    ExitCode::from(worst)
}

/// Prints what was found: the exit status that it makes.
fn tell(name: &str, effect: &str, report: &Report) -> u8 {
    for finding in &report.findings {
        println!("{finding}");
    }
    for fact in &report.facts {
        println!("seen: {fact}");
    }
    if report.is_right() {
        let notes = if report.findings.is_empty() { "" } else { "; mind the notes above" };
        println!("{name}: all right{notes}");
        0
    } else {
        let tool = "the openssl tool uses the engine all the same, as seen above, but other programs may not";
        println!("{name}: NOT right: {}", if report.tool_works { tool } else { effect });
        1
    }
}
