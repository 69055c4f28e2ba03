//! The door between C and Rust, with the core's error queue behind it.

use std::ffi::{c_int, c_void};
use std::ptr;

pub(crate) use engntru_common::guard::{Convention, Done, Nothing};

use super::handles::Held;
use super::upcalls::Core;
use crate::error::{Error, Function};

/// Runs the body of a callback. An error or a panic goes to the core's error queue under the provider's name.
pub(crate) fn guard<R: Convention>(core: Core, function: Function, body: impl FnOnce() -> Result<R, Error>) -> R::C {
    engntru_common::guard::guard(function, |function, error| core.raise(function, error), body)
}

/// Runs the body of a callback with the object at `place`, as [`guard`] does. With NULL there is no core to tell about it,
/// so C gets the plain failure value.
///
/// # Safety
/// `place` must be NULL or come from a [`Given`] of this very type, not yet freed, and nothing may change it but through
/// interior mutability.
pub(crate) unsafe fn on<'call, T: Held, R: Convention>(
    place: *const c_void,
    function: Function,
    body: impl FnOnce(&'call T) -> Result<R, Error>,
) -> R::C {
    // SAFETY: the caller's contract.
    let object = unsafe { place.cast::<T>().as_ref() };
    object.map_or(R::FAILED, |object| guard(object.core(), function, || body(object)))
}

/// Yes or no: 1, 0. No error entry goes with a no.
pub(crate) struct Answer(pub(crate) bool);

impl Convention for Answer {
    type C = c_int;
    const FAILED: c_int = 0;
    fn into_c(self) -> c_int {
        c_int::from(self.0)
    }
}

/// An object that C holds from now on, by its address; NULL for failure.
pub(crate) struct Given<T>(pub(crate) Box<T>);

impl<T> Convention for Given<T> {
    type C = *mut c_void;
    const FAILED: *mut c_void = ptr::null_mut();
    fn into_c(self) -> *mut c_void {
        Box::into_raw(self.0).cast()
    }
}
