//! Objects of ours that C holds: lent back to us for a call, or given back to be freed.

use std::ffi::c_void;

pub(crate) use engntru_common::lent::{Output, bytes};

use super::upcalls::Core;

/// An object that knows the core which it was made under.
pub(crate) trait Held: 'static {
    /// The core.
    fn core(&self) -> Core;
}

/// Takes an object back from C, to be dropped; `None` for NULL.
///
/// # Safety
/// As for [`super::guard::on`], and C must not use the object any more.
pub(crate) unsafe fn take_back<T: Held>(place: *mut c_void) -> Option<Box<T>> {
    // SAFETY: the caller's contract: the address came from Box::into_raw.
    (!place.is_null()).then(|| unsafe { Box::from_raw(place.cast::<T>()) })
}
