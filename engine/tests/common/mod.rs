//! The OpenSSLs that the engine is tested with: 1.1.1 and the system's 3.

#![allow(dead_code, unused_imports, reason = "each test file uses its part")]

#[path = "../../../common/tests/evp/mod.rs"]
mod evp;

use std::fs;
use std::path::PathBuf;

pub(crate) use evp::{Place, Target, clean_environment, pass, path, run, scratch, source_of, succeed};

impl Target {
    /// OpenSSL 1.1.1 at ENGNTRU_OPENSSL with the engine ENGNTRU_ENGINE.
    pub(crate) fn openssl_1_1_1() -> Self {
        let target =
            Self { name: "1.1.1", place: Place::Prefix(path("ENGNTRU_OPENSSL")), module: path("ENGNTRU_ENGINE") };
        target.require("OpenSSL 1.1.1")
    }

    /// The system's OpenSSL 3 with the engine ENGNTRU_ENGINE_3.
    pub(crate) fn openssl_3() -> Self {
        Self { name: "3", place: Place::System, module: path("ENGNTRU_ENGINE_3") }.require("OpenSSL 3.")
    }

    /// Writes an openssl.cnf whose section of the engine has these lines.
    pub(crate) fn configuration(&self, name: &str, lines: &[&str]) -> PathBuf {
        let file = scratch().join(format!("{}-{name}.cnf", self.name));
        let lines = lines.join("\n").replace("ENGINE", &self.module.display().to_string());
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
