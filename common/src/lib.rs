//! What the engine and the provider share, so that nothing of it is written twice.
//!
//! | room | what is in it |
//! |---|---|
//! | `settings` | batch size, background refill and backend by name, the read-outs, and how all of it is reset |
//! | `scheme` | the schemes: names, object identifiers, strengths, code points, the stocks |
//! | `key` | a public key with or without its secret key, and the check that both fit |
//! | `lent` | buffers that C lends for a call |
//! | `guard` | the one door between C and Rust: return conventions, errors, panics |
//! | `error` | reasons and details of errors |
//!
//! Nothing here calls OpenSSL: how an error reaches its queue is told to [`guard`] by the caller.

pub mod error;
pub mod guard;
pub mod key;
pub mod lent;
pub mod scheme;
pub mod settings;
