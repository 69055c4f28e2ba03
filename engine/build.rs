//! Reads which OpenSSL openssl-sys found, refuses those without an ENGINE interface, and sets the link options.

use std::env;

fn main() {
    for name in ["DEP_OPENSSL_VERSION_NUMBER", "DEP_OPENSSL_CONF"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(openssl1)");
    println!("cargo::rustc-check-cfg=cfg(openssl3)");

    // The value has the form of OPENSSL_VERSION_NUMBER: 0x1010117f is 1.1.1w, 0x30000130 is 3.0.19.
    let version = env::var("DEP_OPENSSL_VERSION_NUMBER").ok().and_then(|v| u64::from_str_radix(&v, 16).ok());
    let Some(version) = version else {
        return stop("the library that was found is no OpenSSL; set OPENSSL_DIR to an OpenSSL 1.1.1 or 3.x");
    };
    let options = env::var("DEP_OPENSSL_CONF").unwrap_or_default();
    if version >> 28 >= 4 {
        return stop("OpenSSL 4.0 and later have no ENGINE interface; set OPENSSL_DIR to an OpenSSL 1.1.1 or 3.x");
    }
    if options.split(',').any(|option| option == "OPENSSL_NO_ENGINE") {
        return stop("this OpenSSL was built without ENGINE support (no-engine); set OPENSSL_DIR to another one");
    }
    if version < 0x1010_1000 {
        return stop("OpenSSL before 1.1.1 is not supported; set OPENSSL_DIR to an OpenSSL 1.1.1 or 3.x");
    }
    println!("cargo::rustc-cfg={}", if version >> 28 == 1 { "openssl1" } else { "openssl3" });
    println!("cargo::rustc-env=ENGNTRU_OPENSSL_VERSION_NUMBER={version}");

    // nodelete: ENGINE_free closes the library, yet Rust's thread-local destructors may still have to run from it.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // defs: a name that this OpenSSL lacks is found now, and not when a program loads the engine. A sanitizer's functions,
    // however, come from the program.
    if env::var_os("CARGO_CFG_SANITIZE").is_none() {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,defs");
    }
    // as-needed: openssl-sys names libssl too, of which the engine uses nothing.
    println!("cargo::rustc-cdylib-link-arg=-Wl,--as-needed");
}

fn stop(reason: &str) {
    println!("cargo::error=engntru cannot be built: {reason}");
}
