//! The OpenSSLs that the provider is tested with: the system's 3.0, and with the feature `newer` those of later Debians.

#![allow(dead_code, unused_imports, reason = "each test file uses its part")]

#[path = "../../../common/tests/evp/mod.rs"]
mod evp;

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) use evp::{Place, Target, clean_environment, pass, path, run, scratch, source_of, succeed};

impl Target {
    /// The system's OpenSSL 3 with the provider ENGNTRU_PROVIDER.
    pub(crate) fn system() -> Self {
        Self { name: "system", place: Place::System, module: path("ENGNTRU_PROVIDER") }.require("OpenSSL 3.0.")
    }

    /// An OpenSSL that scripts/get-apps unpacks under ENGNTRU_APPS.
    fn debian(name: &'static str, series: &str) -> Self {
        let root = path("ENGNTRU_APPS").join(name);
        assert!(root.join(".complete").exists(), "{} is missing: run scripts/test --provider", root.display());
        Self { name, place: Place::Debian(root), module: path("ENGNTRU_PROVIDER") }.require(series)
    }

    /// Debian 13's.
    pub(crate) fn openssl_3_5() -> Self {
        Self::debian("debian13", "OpenSSL 3.5.")
    }

    /// The one that Debian's next release will have.
    pub(crate) fn openssl_3_6() -> Self {
        Self::debian("openssl-3.6", "OpenSSL 3.")
    }

    /// The first one without engines.
    pub(crate) fn openssl_4() -> Self {
        Self::debian("openssl-4", "OpenSSL 4.")
    }

    /// Writes an openssl.cnf that loads the provider beside the default one; `lines` go into the provider's section.
    pub(crate) fn configuration(&self, name: &str, lines: &[&str]) -> PathBuf {
        let file = scratch().join(format!("{}-{name}.cnf", self.name));
        let text = format!(
            "openssl_conf = init\nconfig_diagnostics = 1\n[init]\nproviders = providers\n[providers]\ndefault = usual\n\
             ntruprime = ntruprime\n[usual]\nactivate = 1\n[ntruprime]\nmodule = {}\nactivate = 1\n{}\n",
            self.module.display(),
            lines.join("\n")
        );
        // Put into place in one step: tests that run at the same time may read a file of this name.
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let unfinished = file.with_extension(format!("{}.new", COUNT.fetch_add(1, Ordering::Relaxed)));
        fs::write(&unfinished, text).expect("the configuration can be written");
        fs::rename(&unfinished, &file).expect("the configuration can be put into place");
        file
    }
}

/// Makes tests of each function: one for the system's OpenSSL, and with the feature `newer` one for each later one.
#[macro_export]
macro_rules! on_each_openssl {
    ($($(#[$attribute:meta])* fn $name:ident($target:ident) $body:block)+) => {
        $($(#[$attribute])* fn $name($target: &Target) $body)+

        mod openssl_3_0 {
            $(#[test] fn $name() { super::$name(&super::Target::system()) })+
        }

        #[cfg(feature = "newer")]
        mod openssl_3_5 {
            $(#[test] fn $name() { super::$name(&super::Target::openssl_3_5()) })+
        }

        #[cfg(feature = "newer")]
        mod openssl_3_6 {
            $(#[test] fn $name() { super::$name(&super::Target::openssl_3_6()) })+
        }

        #[cfg(feature = "newer")]
        mod openssl_4 {
            $(#[test] fn $name() { super::$name(&super::Target::openssl_4()) })+
        }
    };
}
