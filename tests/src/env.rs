//! Where the builds under test are. scripts/test builds them and sets these variables.

use std::path::{Path, PathBuf};

/// Prefix of the patched OpenSSL 1.1.1w.
pub const OPENSSL: &str = "ENGNTRU_OPENSSL";
/// The engine built for that OpenSSL.
pub const ENGINE: &str = "ENGNTRU_ENGINE";
/// Prefix of the OpenSSL 1.1.1w with the optional patch.
pub const BUILTIN: &str = "ENGNTRU_BUILTIN";
/// The engine built for the system's OpenSSL 3.
pub const ENGINE_3: &str = "ENGNTRU_ENGINE_3";
/// The provider.
pub const PROVIDER: &str = "ENGNTRU_PROVIDER";
/// The directory with the applications that scripts/get-apps prepares.
pub const APPS: &str = "ENGNTRU_APPS";

/// A variable's value as the path of something that exists.
///
/// # Errors
/// A sentence that says what is missing and what to do.
pub fn path(variable: &str) -> Result<PathBuf, String> {
    let value = std::env::var_os(variable).filter(|value| !value.is_empty());
    let path = PathBuf::from(value.ok_or_else(|| format!("{variable} is not set: run scripts/test"))?);
    if path.exists() {
        Ok(path)
    } else {
        Err(format!("{variable} names {}, which does not exist: run scripts/test", path.display()))
    }
}

/// The patched OpenSSL's prefix.
///
/// # Panics
/// It is not there: a test that cannot run must fail.
#[must_use]
pub fn openssl() -> PathBuf {
    let prefix = path(OPENSSL).unwrap_or_else(|problem| panic!("{problem}"));
    let program = prefix.join("bin/openssl");
    assert!(program.exists(), "{OPENSSL} names {}, which has no bin/openssl: run scripts/test", prefix.display());
    prefix
}

/// The prefix of the OpenSSL with the optional patch.
///
/// # Panics
/// It is not there.
#[must_use]
pub fn builtin() -> PathBuf {
    path(BUILTIN).unwrap_or_else(|problem| panic!("{problem} --builtin"))
}

/// The engine for the patched OpenSSL.
///
/// # Panics
/// It is not there.
#[must_use]
pub fn engine() -> PathBuf {
    path(ENGINE).unwrap_or_else(|problem| panic!("{problem}"))
}

/// The engine for the system's OpenSSL 3.
///
/// # Panics
/// It is not there.
#[must_use]
pub fn engine_3() -> PathBuf {
    path(ENGINE_3).unwrap_or_else(|problem| panic!("{problem}"))
}

/// The provider.
///
/// # Panics
/// It is not there.
#[must_use]
pub fn provider() -> PathBuf {
    path(PROVIDER).unwrap_or_else(|problem| panic!("{problem}"))
}

/// The directory of one of the things that scripts/get-apps prepares: `stunnel`, `debian11`, `debian13`, `openssl-4`, …
///
/// # Panics
/// It is not there.
#[must_use]
pub fn app(name: &str) -> PathBuf {
    let home = path(APPS).unwrap_or_else(|problem| panic!("{problem} --apps"));
    let directory = home.join(name);
    assert!(
        directory.join(".complete").exists(),
        "{} is missing or half-built: run scripts/get-apps {name}",
        directory.display()
    );
    directory
}

/// The system's `openssl` program (series 3).
#[must_use]
pub fn system_program() -> &'static Path {
    Path::new("/usr/bin/openssl")
}
