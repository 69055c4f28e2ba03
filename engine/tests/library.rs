//! The shared library as such: what it exports and needs, what its declarations say, and where it refuses to be loaded.

mod common;
#[path = "../src/ffi/sys.rs"]
#[allow(dead_code, unused_imports, reason = "only layouts and constants are looked at")]
mod sys;

use std::fmt::Write as _;
use std::mem::{offset_of, size_of};
use std::process::Command;
use std::{env, fs};

use common::{Target, run, scratch, source_of, succeed};

on_each_openssl! {
    /// Only the two functions that OpenSSL looks up leave the library.
    fn exports(target) {
        let symbols = succeed(Command::new("nm").args(["-D", "--defined-only", "--format=just-symbols"]).arg(&target.module));
        let mut symbols: Vec<_> = symbols.split_whitespace().collect();
        symbols.sort_unstable();
        assert_eq!(symbols, ["bind_engine", "v_check"]);
    }

    /// libcrypto is needed by name, libssl is not, no search path is built in, and the library stays mapped once loaded.
    fn dependencies(target) {
        let dynamic = succeed(Command::new("readelf").arg("-dW").arg(&target.module));
        let soname = if target.prefix().is_some() { "libcrypto.so.1.1" } else { "libcrypto.so.3" };
        assert!(dynamic.contains(&format!("Shared library: [{soname}]")), "{dynamic}");
        assert!(!dynamic.contains("libssl"), "{dynamic}");
        assert!(!dynamic.contains("RPATH") && !dynamic.contains("RUNPATH"), "{dynamic}");
        assert!(dynamic.contains("NODELETE"), "{dynamic}");
    }

    /// No copy of libcrypto inside: what is called of it is imported, and nothing of it is defined (L3).
    fn no_static_libcrypto(target) {
        let symbols = succeed(Command::new("nm").arg("-D").arg("--undefined-only").arg(&target.module));
        for function in ["RAND_priv_bytes", "OBJ_create", "EVP_PKEY_meth_new", "ENGINE_set_id"] {
            assert!(symbols.contains(function), "{function} is not imported");
        }
        let all = succeed(Command::new("nm").arg("--defined-only").arg(&target.module));
        assert!(!all.contains(" T RAND_") && !all.contains(" t RAND_") && !all.contains("OPENSSL_init_crypto"));
    }

    /// Structures, constants and function types of ffi/sys.rs are those of the headers.
    fn declarations(target) {
        check_coverage();
        fs::write(scratch().join("layout_values.h"), layout_values()).expect("the header can be written");
        succeed(&mut Command::new(target.compile("layout")));
    }

    /// The other series' library, and one for another copy of libcrypto, are refused with a reason; the process goes on (L3).
    fn refusals(target) {
        let other = if target.prefix().is_some() { Target::openssl_3() } else { Target::openssl_1_1_1() };
        let program = target.compile("refused");
        let refuse = |command: &mut Command| {
            let (output, stdout, stderr) = run(command);
            assert!(output.status.success() && stdout.ends_with("refused: ok\n"), "{}\n{stdout}\n{stderr}", output.status);
            (stdout, stderr)
        };

        // With the other libcrypto at hand.
        let mut command = Command::new(&program);
        if let Some(prefix) = other.prefix() {
            command.env("LD_LIBRARY_PATH", prefix.join("lib"));
        }
        let (stdout, stderr) = refuse(command.arg(&other.module));
        assert!(stdout.contains("version incompatibility"), "{stdout}");
        assert!(stderr.contains("engntru: not loaded: built for OpenSSL "), "{stderr}");
        assert!(stderr.contains("but this program runs OpenSSL "), "{stderr}");

        // Without it: the dynamic linker says what is missing.
        if other.prefix().is_some() {
            let (stdout, _) = refuse(Command::new(&program).env_remove("LD_LIBRARY_PATH").arg(&other.module));
            assert!(stdout.contains("libcrypto.so.1.1: cannot open shared object file"), "{stdout}");
        }

        // A program with a libcrypto of its own inside.
        if let Some(prefix) = target.prefix() {
            let archive = prefix.join("lib/libcrypto.a");
            let archive = archive.to_str().expect("a plain path");
            let program = target.compile_with("refused", &[archive, "-ldl", "-lpthread"]);
            let renamed = program.with_extension("static");
            fs::rename(&program, &renamed).expect("the program can be renamed");
            let (stdout, stderr) =
                refuse(Command::new(renamed).env("LD_LIBRARY_PATH", prefix.join("lib")).arg(&target.module));
            assert!(stdout.contains("init failed"), "{stdout}");
            assert!(stderr.contains("another copy of libcrypto"), "{stderr}");
        }
    }
}

/// The build stops with one plain sentence for an OpenSSL that has no ENGINE interface, and for what is no OpenSSL 1.1.1 or 3.
#[test]
fn build_refusals() {
    let script = scratch().join("build-script");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/build.rs");
    succeed(Command::new("rustc").args(["--edition", "2024", source, "-o"]).arg(&script));
    let build = |version: Option<&str>, options: &str| {
        let mut command = Command::new(&script);
        command.env_remove("DEP_OPENSSL_VERSION_NUMBER").env("DEP_OPENSSL_CONF", options);
        if let Some(version) = version {
            command.env("DEP_OPENSSL_VERSION_NUMBER", version);
        }
        let lines = succeed(&mut command);
        let errors: Vec<_> = lines.lines().filter_map(|line| line.strip_prefix("cargo::error=")).collect();
        (errors.join("\n"), lines.contains("cargo::rustc-cfg=openssl"))
    };
    for (version, options, sentence) in [
        (Some("40000030"), "", "OpenSSL 4.0 and later have no ENGINE interface"),
        (Some("30000130"), "OPENSSL_NO_RC5,OPENSSL_NO_ENGINE", "built without ENGINE support"),
        (Some("101000bf"), "", "OpenSSL before 1.1.1 is not supported"),
        (None, "", "the library that was found is no OpenSSL"),
    ] {
        let (error, goes_on) = build(version, options);
        assert!(error.contains(sentence) && error.contains("set OPENSSL_DIR") && !goes_on, "{version:?}: {error}");
        assert_eq!(error.lines().count(), 1);
    }
    for version in ["1010117f", "30000130", "30600030"] {
        assert_eq!(build(Some(version), "OPENSSL_NO_RC5"), (String::new(), true));
    }
}

/// The values of sys.rs, as C macros that layout.c compares with the headers.
fn layout_values() -> String {
    let mut text = String::from("/* Made by the test `declarations` from src/ffi/sys.rs. */\n");
    let mut define = |name: &str, value: i64| writeln!(text, "#define RUST_{name} ({value})").expect("text grows");
    define("V_ASN1_UNDEF", sys::V_ASN1_UNDEF.into());
    define("OSSL_DYNAMIC_VERSION", sys::OSSL_DYNAMIC_VERSION as i64);
    define("OSSL_DYNAMIC_OLDEST", sys::OSSL_DYNAMIC_OLDEST as i64);
    define("ENGINE_CMD_BASE", sys::ENGINE_CMD_BASE.into());
    define("ENGINE_CMD_FLAG_NUMERIC", sys::ENGINE_CMD_FLAG_NUMERIC.into());
    define("ENGINE_CMD_FLAG_STRING", sys::ENGINE_CMD_FLAG_STRING.into());
    define("ENGINE_CMD_FLAG_NO_INPUT", sys::ENGINE_CMD_FLAG_NO_INPUT.into());
    define("EVP_PKEY_CTRL_PEER_KEY", sys::EVP_PKEY_CTRL_PEER_KEY.into());
    define("ASN1_PKEY_CTRL_SET1_TLS_ENCPT", sys::ASN1_PKEY_CTRL_SET1_TLS_ENCPT.into());
    define("ASN1_PKEY_CTRL_GET1_TLS_ENCPT", sys::ASN1_PKEY_CTRL_GET1_TLS_ENCPT.into());
    let size = |n: usize| i64::try_from(n).expect("sizes are small");
    define("SIZE_ENGINE_CMD_DEFN", size(size_of::<sys::ENGINE_CMD_DEFN>()));
    define("OFFSET_cmd_name", size(offset_of!(sys::ENGINE_CMD_DEFN, cmd_name)));
    define("OFFSET_cmd_desc", size(offset_of!(sys::ENGINE_CMD_DEFN, cmd_desc)));
    define("OFFSET_cmd_flags", size(offset_of!(sys::ENGINE_CMD_DEFN, cmd_flags)));
    define("SIZE_dynamic_MEM_fns", size(size_of::<sys::dynamic_MEM_fns>()));
    define("SIZE_dynamic_fns", size(size_of::<sys::dynamic_fns>()));
    define("OFFSET_mem_fns", size(offset_of!(sys::dynamic_fns, mem_fns)));
    define("SIZE_ERR_STRING_DATA", size(size_of::<sys::ERR_STRING_DATA>()));
    text
}

/// Whatever sys.rs declares is in layout.c: a new declaration without a check fails here.
fn check_coverage() {
    let directory = env!("CARGO_MANIFEST_DIR");
    let declarations = fs::read_to_string(format!("{directory}/src/ffi/sys.rs")).expect("sys.rs is there");
    let checks = fs::read_to_string(source_of("layout")).expect("layout.c is there");
    let mut seen = 0;
    for line in declarations.lines().map(str::trim_start) {
        let name = |rest: &str| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().map(str::to_owned);
        let wanted = if let Some(rest) = line.strip_prefix("pub(crate) fn ") {
            name(rest).map(|name| format!("FUNCTION({name},"))
        } else if let Some(rest) = line.strip_prefix("pub(crate) const ") {
            name(rest).map(|name| format!("CONSTANT({name})"))
        } else if let Some(rest) = line.strip_prefix("pub(crate) struct ") {
            name(rest).map(|name| format!("SIZE({name})"))
        } else {
            None
        };
        if let Some(wanted) = wanted {
            assert!(checks.contains(&wanted), "tests/c/layout.c has no {wanted}…");
            seen += 1;
        }
    }
    assert!(seen > 40, "only {seen} declarations were found in sys.rs");
}
