//! ntruprime: a provider for OpenSSL 3.0 to 4.x that serves sntrup761, sntrup857 and the hybrid X25519+sntrup761.
//!
//! The life of a provider, and where to read about it:
//!
//! | what OpenSSL does | callback | file |
//! |---|---|---|
//! | finds the library and starts it | `OSSL_provider_init` | `provider.rs`, then `settings.rs` |
//! | asks what it serves | `query_operation` | `provider.rs`, `algorithms.rs` (the tables) |
//! | asks for the TLS groups | `get_capabilities` | `groups.rs` |
//! | makes, fills, compares and frees keys | the functions of a KEYMGMT | `keymgmt.rs` |
//! | encapsulates and decapsulates | the functions of a KEM | `kem.rs` |
//! | writes and reads keys | the functions of ENCODERs and DECODERs | `encoder.rs`, `decoder.rs`, `der.rs` |
//! | ends | `teardown` | `provider.rs` |
//!
//! What a key is stands in `key.rs` (the trait), `plain.rs` and `hybrid.rs`, with `x25519.rs` and `rng.rs` under them.
//!
//! The library calls no function of libcrypto by name: the core hands over what it offers (`ffi::upcalls`). So one file
//! serves every OpenSSL from 3.0 on, also in programs whose libcrypto is linked statically or is loaded privately.
//!
//! Every callback goes through `ffi::guard`, the one door between C and Rust. `unsafe` stays in `ffi` and in the
//! callbacks' one line.

mod algorithms;
mod decoder;
mod der;
mod encoder;
mod error;
mod ffi;
mod groups;
mod hybrid;
mod kem;
mod key;
mod keymgmt;
mod plain;
mod provider;
mod rng;
mod settings;
mod x25519;
