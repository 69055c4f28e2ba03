//! The capability TLS-GROUP: which groups libssl may offer, under which names and code points.

use std::ffi::{CStr, c_int, c_uint, c_void};

use crate::error::{Error, Reason};
use crate::ffi::params::{Value, array};
use crate::ffi::sys::OSSL_CALLBACK;
use crate::ffi::upcalls::Core;
use crate::key::Key;
use crate::settings;

/// A group as this loading of the provider offers it.
pub(crate) struct Group {
    name: &'static CStr,
    id: u16,
    security_bits: u16,
}

impl Group {
    /// The group of a key type; `None` if openssl.cnf leaves it out.
    ///
    /// Errors: [`Reason::BadGroup`].
    pub(crate) fn of<K: Key>(core: Core) -> Result<Option<Self>, Error> {
        let id = settings::group(core, K::GROUP_SETTING, K::GROUP)?;
        Ok(id.map(|id| Self { name: K::NAME, id, security_bits: K::SECURITY_BITS }))
    }
}

/// Errors: [`Reason::BadGroup`] if two groups have one code point.
pub(crate) fn require_distinct(groups: &[Group]) -> Result<(), Error> {
    for (i, group) in groups.iter().enumerate() {
        if let Some(twin) = groups[..i].iter().find(|twin| twin.id == group.id) {
            let (a, b) = (twin.name.to_string_lossy(), group.name.to_string_lossy());
            return Err(
                Error::new(Reason::BadGroup).with(format!("{a} and {b} have the same number {:#06x}", group.id))
            );
        }
    }
    Ok(())
}

/// Tells each group to `tell`; false if that did not want one.
///
/// # Safety
/// `tell` may be called with `arg`.
pub(crate) unsafe fn tell_all(groups: &[Group], tell: OSSL_CALLBACK, arg: *mut c_void) -> bool {
    // TLS 1.3 and later, no DTLS: -1 is "never", 0 is "no limit".
    const TLS13: c_int = 0x0304;
    groups.iter().all(|group| {
        let (id, security_bits) = (c_uint::from(group.id), c_uint::from(group.security_bits));
        let params = array([
            (c"tls-group-name", Value::Utf8(group.name)),
            (c"tls-group-name-internal", Value::Utf8(group.name)),
            (c"tls-group-alg", Value::Utf8(group.name)),
            (c"tls-group-id", Value::Uint(&id)),
            (c"tls-group-sec-bits", Value::Uint(&security_bits)),
            (c"tls-group-is-kem", Value::Uint(&1)),
            (c"tls-min-tls", Value::Int(&TLS13)),
            (c"tls-max-tls", Value::Int(&0)),
            (c"tls-min-dtls", Value::Int(&-1)),
            (c"tls-max-dtls", Value::Int(&-1)),
        ]);
        // SAFETY: the caller's contract; the array lives through the call.
        unsafe { tell(params.as_ptr(), arg) == 1 }
    })
}
