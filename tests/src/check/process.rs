//! A program that runs: which TLS library it has loaded, and whether the engine is in it.

use super::{Finding, Report};
use std::path::Path;

/// Looks at a running process by its id.
///
/// # Errors
/// There is no such process, or it is another user's.
pub fn check_process(process: &str, openssl_prefix: &Path) -> Result<Report, String> {
    let read = |file: &str| {
        let path = format!("/proc/{process}/{file}");
        std::fs::read(&path).map_err(|error| format!("{path}: {error}"))
    };
    if process.is_empty() || !process.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("\"{process}\" is no process id"));
    }
    let maps = String::from_utf8_lossy(&read("maps")?).into_owned();
    let environment = String::from_utf8_lossy(&read("environ")?).into_owned();
    let mut report = Report::default();
    let conf = environment.split('\0').find_map(|variable| variable.strip_prefix("OPENSSL_CONF="));
    report.facts.push(match conf {
        Some(conf) => format!("it was started with OPENSSL_CONF={conf}"),
        None => "it was started without OPENSSL_CONF".to_owned(),
    });
    judge(&maps, openssl_prefix, conf, &mut report);
    Ok(report)
}

/// Judges what is mapped into a process.
fn judge(maps: &str, openssl_prefix: &Path, conf: Option<&str>, report: &mut Report) {
    let mut libraries: Vec<&str> = maps.lines().filter_map(|line| line.find('/').map(|start| &line[start..])).collect();
    libraries.dedup();
    let named = |word: &str| {
        libraries.iter().copied().find(|path| path.rsplit('/').next().is_some_and(|name| name.starts_with(word)))
    };
    let error = |what: String, advice: &str| Finding::error(None, what, advice);
    match (named("libssl.so.1.1"), named("libssl.so.3")) {
        (Some(library), _) => {
            // A library may be reached through another name of its directory.
            let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
            if real(Path::new(library)).starts_with(real(openssl_prefix)) {
                report.facts.push(format!("it has loaded {library}"));
            } else {
                let what = format!("it has loaded {library}, which is not the patched OpenSSL");
                report.findings.push(error(what, "start it with engntru-env"));
            }
        }
        (None, Some(library)) => {
            let what = format!("it has loaded {library}: the engine and the patches are for OpenSSL 1.1.1");
            report.findings.push(error(what, "take a build of the program for libssl.so.1.1"));
        }
        (None, None) => {
            let what =
                "it has loaded no libssl: it has not made a TLS connection yet, or has another TLS library".to_owned();
            report.findings.push(error(what, "look at its other processes, and with ldd at the program"));
        }
    }
    match named("libengntru.so").or_else(|| named("engntru.so")) {
        Some(engine) => report.facts.push(format!("it has loaded the engine {engine}")),
        None => {
            let advice = match conf {
                Some(conf) => format!("check {conf}, and start the program again"),
                None => "start it with engntru-env, or set OPENSSL_CONF".to_owned(),
            };
            report.findings.push(error("it has not loaded the engine".to_owned(), &advice));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(maps: &str) -> (bool, String) {
        let mut report = Report::default();
        judge(maps, Path::new("/opt/engntru"), None, &mut report);
        let said: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
        (report.is_right(), said.join("\n"))
    }

    #[test]
    fn what_is_mapped_decides() {
        let ssl = "7f00-7f01 r--p 00000000 fd:00 1 /opt/engntru/lib/libssl.so.1.1\n";
        let engine = "7f02-7f03 r--p 00000000 fd:00 2 /opt/engntru/lib/engines-1.1/engntru.so\n";
        assert!(verdict(&format!("{ssl}{engine}")).0);
        assert!(verdict(ssl).1.contains("not loaded the engine"));
        let (right, said) = verdict(&format!("7f00-7f01 r--p 0 fd:00 1 /usr/lib/libssl.so.1.1\n{engine}"));
        assert!(!right && said.contains("not the patched OpenSSL"), "{said}");
        let (right, said) = verdict("7f00-7f01 r--p 0 fd:00 1 /usr/lib/libssl.so.3\n");
        assert!(!right && said.contains("libssl.so.3"), "{said}");
        assert!(verdict("").1.contains("no libssl"));
    }
}
