//! The numbers (NIDs) by which OpenSSL knows the schemes.

use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::Ordering;

use crate::error::{Error, Reason};
use crate::ffi::sys;
use crate::scheme;

/// Finds the NID of every scheme, or creates it.
///
/// A patched libcrypto has the objects built in, and libssl's table of groups relies on those numbers; on any other they
/// are created, at the first bind, and stay for the life of the process. A name that somebody else has given to another
/// object is refused, since keys would be written under that object's identifier. Creating takes no lock in OpenSSL 1.1.1
/// and 3.0: as for all engines that bring objects, load the engine before other threads create objects.
pub(crate) fn resolve() -> Result<(), Error> {
    for row in scheme::all() {
        // SAFETY: the name is a constant C string.
        let mut nid = unsafe { sys::OBJ_sn2nid(row.name.as_ptr()) };
        if nid == 0 {
            // SAFETY: constant C strings, which OpenSSL copies.
            nid = unsafe { sys::OBJ_create(row.oid.as_ptr(), row.name.as_ptr(), row.name.as_ptr()) };
        } else {
            require_oid(nid, row.name, row.oid)?;
        }
        if nid == 0 {
            let name = row.name.to_string_lossy();
            return Err(Error::new(Reason::Libcrypto).with(format!("OBJ_create refused {name}")));
        }
        row.nid.store(nid, Ordering::Release);
    }
    Ok(())
}

/// Errors: [`Reason::ForeignObject`] unless the object has this identifier.
fn require_oid(nid: c_int, name: &CStr, oid: &CStr) -> Result<(), Error> {
    // Our identifiers have 48 characters; a longer one is cut short here, and is not ours.
    let mut dotted = [0u8; 80];
    let size = c_int::try_from(dotted.len()).expect("80 is small");
    // SAFETY: the buffer has `size` bytes, and OpenSSL ends what it writes there with a zero; 1 asks for the dotted form.
    let length = unsafe { sys::OBJ_obj2txt(dotted.as_mut_ptr().cast::<c_char>(), size, sys::OBJ_nid2obj(nid), 1) };
    if length < 0 {
        return Err(Error::new(Reason::Libcrypto).with("OBJ_obj2txt"));
    }
    let found = CStr::from_bytes_until_nul(&dotted).unwrap_or_default();
    if found == oid {
        return Ok(());
    }
    let (name, found, oid) = (name.to_string_lossy(), found.to_string_lossy(), oid.to_string_lossy());
    Err(Error::new(Reason::ForeignObject).with(format!("{name} is {found} here, not {oid}")))
}
