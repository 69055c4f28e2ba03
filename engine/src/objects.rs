//! The numbers (NIDs) by which OpenSSL knows the schemes.

use std::sync::atomic::Ordering;

use crate::error::{Error, Reason};
use crate::ffi::sys;
use crate::scheme;

/// Finds the NID of every scheme, or creates it.
///
/// A patched libcrypto has the objects built in, and libssl's table of groups relies on those numbers; on any other they
/// are created, at the first bind, and stay for the life of the process. Creating takes no lock in OpenSSL 1.1.1 and 3.0:
/// as for all engines that bring objects, load the engine before other threads create objects.
pub(crate) fn resolve() -> Result<(), Error> {
    for row in scheme::all() {
        // SAFETY: the name is a constant C string.
        let mut nid = unsafe { sys::OBJ_sn2nid(row.name.as_ptr()) };
        if nid == 0 {
            // SAFETY: constant C strings, which OpenSSL copies.
            nid = unsafe { sys::OBJ_create(row.oid.as_ptr(), row.name.as_ptr(), row.name.as_ptr()) };
        }
        if nid == 0 {
            let name = row.name.to_string_lossy();
            return Err(Error::new(Reason::Libcrypto).with(format!("OBJ_create refused {name}")));
        }
        row.nid.store(nid, Ordering::Release);
    }
    Ok(())
}
