//! Sets the link options. No OpenSSL is looked for: the library uses what the core hands it when it is loaded.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // nodelete: OpenSSL closes the library, yet Rust's thread-local destructors may still have to run from it.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // defs: nothing may be left for the program to define, or the library would depend on a particular libcrypto.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,defs");
}
