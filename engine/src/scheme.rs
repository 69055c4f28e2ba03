//! The schemes that the engine serves: one row each, of which everything else is generic.

use std::ffi::{CStr, c_int};
use std::sync::atomic::{AtomicI32, AtomicPtr};

use sntrup_core::{Sntrup761, Sntrup857};

use crate::ffi::sys;
use crate::{asn1_method, pkey_method};

/// A scheme with its row.
pub(crate) trait Scheme: engntru_common::scheme::Scheme {
    /// The row of the table.
    fn row() -> &'static Row;
}

/// What the engine holds of a scheme while it is bound. All of it is reset when the ENGINE is destroyed.
pub(crate) struct Row {
    /// Object name.
    pub(crate) name: &'static CStr,
    /// Object identifier.
    pub(crate) oid: &'static CStr,
    /// Its number in this process; 0 while unbound.
    pub(crate) nid: AtomicI32,
    /// Operations; NULL while unbound.
    pub(crate) pkey_method: AtomicPtr<sys::EVP_PKEY_METHOD>,
    /// Encodings; NULL while unbound.
    pub(crate) asn1_method: AtomicPtr<sys::EVP_PKEY_ASN1_METHOD>,
    /// Makes the operations for a NID; NULL on failure.
    pub(crate) new_pkey_method: fn(c_int) -> *mut sys::EVP_PKEY_METHOD,
    /// Makes the encodings for a NID; NULL on failure.
    pub(crate) new_asn1_method: fn(c_int) -> *mut sys::EVP_PKEY_ASN1_METHOD,
}

impl Row {
    const fn of<S: Scheme>() -> Self {
        Self {
            name: S::OBJECT_NAME,
            oid: S::OID,
            nid: AtomicI32::new(0),
            pkey_method: AtomicPtr::new(std::ptr::null_mut()),
            asn1_method: AtomicPtr::new(std::ptr::null_mut()),
            new_pkey_method: pkey_method::new::<S>,
            new_asn1_method: asn1_method::new::<S>,
        }
    }
}

macro_rules! rows {
    ($($params:ident),+) => {
        $(impl Scheme for $params {
            fn row() -> &'static Row {
                static ROW: Row = Row::of::<$params>();
                &ROW
            }
        })+

        /// How many schemes there are.
        pub(crate) const COUNT: usize = [$(stringify!($params)),+].len();

        /// Every row.
        pub(crate) fn all() -> [&'static Row; COUNT] {
            [$($params::row()),+]
        }
    };
}

rows!(Sntrup761, Sntrup857);
