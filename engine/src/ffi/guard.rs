//! The door between C and Rust, with OpenSSL's error queue behind it.

use engntru_common::guard::Convention;

use crate::error::{self, Error, Function};

/// Runs the body of a callback.
///
/// An error is put into OpenSSL's error queue under our library's name, with `function` and its reason; so is a panic,
/// which ends here. In both cases C gets the failure value of the callback's convention.
pub(crate) fn guard<R: Convention>(function: Function, body: impl FnOnce() -> Result<R, Error>) -> R::C {
    engntru_common::guard::guard(function, error::raise, body)
}
