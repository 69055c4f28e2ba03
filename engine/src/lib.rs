//! engNTRU: an OpenSSL ENGINE that serves sntrup761 and sntrup857, the KEMs of sntrup-core.
//!
//! The life of an ENGINE, and where to read about it:
//!
//! | what OpenSSL does | callback | file |
//! |---|---|---|
//! | finds the library and asks for its version | `v_check` | `bind.rs` |
//! | lets it fill an ENGINE | `bind_engine` | `bind.rs`, then `error.rs` (texts), `objects.rs` (NIDs), `state.rs` (tables) |
//! | sets what openssl.cnf says, lists and runs commands | `ctrl` | `commands.rs` |
//! | registers what it serves, looks methods up | `pkey_meths`, `pkey_asn1_meths` | `bind.rs`, `scheme.rs` (the rows) |
//! | takes and gives up functional references | `init`, `finish` | `bind.rs` |
//! | makes a key | `keygen` | `pkey_method.rs`, with the stock in `scheme.rs` and randomness from `rng.rs` |
//! | sends and receives key shares | `ctrl` of the key type | `asn1_method.rs` |
//! | encapsulates, decapsulates, fetches the secret | `encrypt`, `decrypt`, `derive` | `pkey_method.rs`, `keypair.rs` |
//! | reads, writes, prints, compares keys | the encoders and printers | `asn1_method.rs` |
//! | frees a key | `free` | `keypair.rs` |
//! | frees the method tables, then lets the engine clean up | `destroy` | `bind.rs`, `state.rs` |
//!
//! Every callback goes through `ffi::guard`, the one door between C and Rust. `unsafe` stays in `ffi`, in the callbacks'
//! one line, and where OpenSSL's functions are called.

mod asn1_method;
mod bind;
mod commands;
mod error;
mod ffi;
mod keypair;
mod objects;
mod pkey_method;
mod rng;
mod scheme;
mod slot;
mod state;
