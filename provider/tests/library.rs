//! The shared library as such: what it exports and needs, and whether its declarations are those of the headers.

mod common;
#[path = "../src/ffi/sys.rs"]
#[allow(dead_code, unused_imports, unused_macros, reason = "only layouts and constants are looked at")]
mod sys;

use std::fmt::Write as _;
use std::fs;
use std::mem::{offset_of, size_of};
use std::process::Command;

use common::{Target, pass, scratch, source_of, succeed};

/// The one function that OpenSSL looks up leaves the library.
#[test]
fn exports() {
    let library = Target::system().module;
    let symbols = succeed(Command::new("nm").args(["-D", "--defined-only", "--format=just-symbols"]).arg(library));
    assert_eq!(symbols.split_whitespace().collect::<Vec<_>>(), ["OSSL_provider_init"]);
}

/// No libcrypto is needed, by name or by symbol, nor is one inside; no search path is built in, and the library stays
/// mapped once loaded.
#[test]
fn dependencies() {
    let library = Target::system().module;
    let dynamic = succeed(Command::new("readelf").arg("-dW").arg(&library));
    let needed: Vec<_> = dynamic.lines().filter(|line| line.contains("(NEEDED)")).collect();
    assert!(
        needed.iter().all(|line| line.contains("libc.so") || line.contains("libgcc_s") || line.contains("ld-linux"))
    );
    assert!(!dynamic.contains("RPATH") && !dynamic.contains("RUNPATH") && dynamic.contains("NODELETE"), "{dynamic}");
    for which in ["--undefined-only", "--defined-only"] {
        let symbols = succeed(Command::new("nm").arg(which).arg(&library));
        for prefix in ["OPENSSL_", "CRYPTO_", "EVP_", "ERR_", "RAND_", "OBJ_", "BIO_", "SSL_"] {
            assert!(!symbols.contains(&format!(" {prefix}")), "{prefix}: {symbols}");
        }
    }
}

on_each_openssl! {
    /// Structures, constants, names and function types of ffi/sys.rs are those of the headers.
    fn declarations(target) {
        check_coverage();
        fs::write(scratch().join("declarations_values.h"), values()).expect("the header can be written");
        pass("declarations", &mut Command::new(target.compile("declarations")));
    }
}

/// The values of sys.rs, as C macros that declarations.c compares with the headers.
fn values() -> String {
    let mut text = String::from("/* Made by the test `declarations` from src/ffi/sys.rs. */\n");
    let source = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/ffi/sys.rs")).expect("sys.rs is there");
    // The constants are plain numbers, so their text is their value.
    for line in source.lines() {
        if let Some((name, value)) = line.strip_prefix("pub(crate) const ").and_then(|rest| rest.split_once(": c_"))
            && let Some((_, value)) = value.split_once(" = ")
        {
            writeln!(text, "#define RUST_{name} ({})", value.trim_end_matches(';')).expect("text grows");
        }
    }
    let mut define = |name: &str, value: usize| writeln!(text, "#define RUST_{name} ({value})").expect("text grows");
    define("SIZE_ossl_dispatch_st", size_of::<sys::OSSL_DISPATCH>());
    define("SIZE_ossl_item_st", size_of::<sys::OSSL_ITEM>());
    define("SIZE_ossl_algorithm_st", size_of::<sys::OSSL_ALGORITHM>());
    define("SIZE_ossl_param_st", size_of::<sys::OSSL_PARAM>());
    define("OFFSET_function", offset_of!(sys::OSSL_DISPATCH, function));
    define("OFFSET_ptr", offset_of!(sys::OSSL_ITEM, ptr));
    define("OFFSET_property_definition", offset_of!(sys::OSSL_ALGORITHM, property_definition));
    define("OFFSET_implementation", offset_of!(sys::OSSL_ALGORITHM, implementation));
    define("OFFSET_algorithm_description", offset_of!(sys::OSSL_ALGORITHM, algorithm_description));
    define("OFFSET_data_type", offset_of!(sys::OSSL_PARAM, data_type));
    define("OFFSET_data", offset_of!(sys::OSSL_PARAM, data));
    define("OFFSET_data_size", offset_of!(sys::OSSL_PARAM, data_size));
    define("OFFSET_return_size", offset_of!(sys::OSSL_PARAM, return_size));
    text
}

/// Whatever sys.rs declares is in declarations.c: a new declaration without a check fails here.
fn check_coverage() {
    let source = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/ffi/sys.rs")).expect("sys.rs is there");
    let checks = fs::read_to_string(source_of("declarations")).expect("declarations.c is there");
    let mut seen = 0;
    for line in source.lines() {
        let name = |rest: &str| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().map(str::to_owned);
        let wanted = if let Some(rest) = line.strip_prefix("pub(crate) type ") {
            name(rest)
                .filter(|name| name.starts_with(|c: char| c.is_lowercase()) || name.starts_with("BIO_"))
                .map(|name| format!("FUNCTION({name},"))
        } else if line.contains(": c_int = ") || line.contains(": c_uint = ") {
            line.strip_prefix("pub(crate) const ").and_then(name).map(|name| format!("CONSTANT({name})"))
        } else {
            None
        };
        if let Some(wanted) = wanted {
            assert!(checks.contains(&wanted), "tests/c/declarations.c has no {wanted}…");
            seen += 1;
        }
    }
    assert!(seen > 80, "only {seen} declarations were found in sys.rs");
}
