//! What the engine holds while it is bound, and how all of it is given back.
//!
//! The library is never unmapped, so statics outlive the ENGINE and the next bind finds them: they must be as at first.

use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use engntru_common::settings;

use crate::error::{Error, Reason};
use crate::ffi::sys;
use crate::objects;
use crate::scheme::{self, Row};

/// The NIDs in the order of the table: OpenSSL keeps a pointer to this when it lists what the engine serves.
static NIDS: [AtomicI32; scheme::COUNT] = [const { AtomicI32::new(0) }; scheme::COUNT];

/// True from a successful [`build`] to [`forget`].
pub(crate) fn is_bound() -> bool {
    scheme::all().iter().any(|row| !row.pkey_method.load(Ordering::Acquire).is_null())
}

/// Resolves the objects and makes the method tables.
///
/// Errors: what failed; call [`abandon`] then.
pub(crate) fn build() -> Result<(), Error> {
    objects::resolve()?;
    for (row, place) in scheme::all().iter().zip(&NIDS) {
        let nid = row.nid.load(Ordering::Acquire);
        place.store(nid, Ordering::Release);
        row.pkey_method.store((row.new_pkey_method)(nid), Ordering::Release);
        row.asn1_method.store((row.new_asn1_method)(nid), Ordering::Release);
        if row.pkey_method.load(Ordering::Acquire).is_null() || row.asn1_method.load(Ordering::Acquire).is_null() {
            return Err(Error::new(Reason::Libcrypto).with("out of memory for the method tables"));
        }
    }
    Ok(())
}

/// Undoes [`build`], whole or half done, when the bind failed: no ENGINE will free the method tables.
pub(crate) fn abandon() {
    for row in scheme::all() {
        // SAFETY: the tables are ours, no ENGINE knows them, and both functions accept NULL.
        unsafe {
            sys::EVP_PKEY_meth_free(row.pkey_method.swap(ptr::null_mut(), Ordering::AcqRel));
            sys::EVP_PKEY_asn1_free(row.asn1_method.swap(ptr::null_mut(), Ordering::AcqRel));
        }
    }
    forget();
}

/// Resets everything when the ENGINE is destroyed: the stocks are wiped, the settings are as at first, the thread that
/// refilled the stocks has ended. At the end of the process OpenSSL 1.1.1 and 3 destroy the ENGINE, too.
///
/// OpenSSL asked for the method tables and freed them a moment before, so they are forgotten and not freed here. The
/// random generator may be gone, which that thread does not use; nor does it take a lock of OpenSSL's, of which this call
/// may hold some.
pub(crate) fn forget() {
    for (row, place) in scheme::all().iter().zip(&NIDS) {
        row.pkey_method.store(ptr::null_mut(), Ordering::Release);
        row.asn1_method.store(ptr::null_mut(), Ordering::Release);
        row.nid.store(0, Ordering::Release);
        place.store(0, Ordering::Release);
    }
    settings::reset();
}

/// The NIDs that the engine serves.
pub(crate) fn nids() -> (*const c_int, c_int) {
    (NIDS.as_ptr().cast(), c_int::try_from(NIDS.len()).expect("a few schemes"))
}

/// The row of a NID.
pub(crate) fn row_of(nid: c_int) -> Option<&'static Row> {
    scheme::all().into_iter().find(|row| nid != 0 && row.nid.load(Ordering::Acquire) == nid)
}
