//! The schemes that the engine serves: one row each, of which everything else is generic.
//!
//! The OIDs lie under 2.25.324341873410083312134409510976690305945, the arc of the UUID
//! f401f8fd-bfed-45f1-9917-063e3d97bb99. Rec. ITU-T X.667 lets anybody make such an arc without registration. Under it, 1
//! is the arc of key encapsulation mechanisms, and the last number is the degree p. They are private to this project: no
//! other software knows them.
//!
//! The strength in bits follows OpenSSL's custom for lattice KEMs, the category of NIST that the designers claim: in
//! their round-3 submission sntrup761 is in category 2 (as hard as collisions of a 256-bit hash) and sntrup857 in
//! category 3 (as hard as a search for an AES-192 key). OpenSSL's security levels 2 and 3 admit both, level 4 admits
//! sntrup857.

use std::ffi::{CStr, c_int};
use std::sync::atomic::{AtomicI32, AtomicPtr};

use sntrup_core::{Error, Params, Sntrup761, Sntrup857, Stock};

use crate::ffi::sys;
use crate::{asn1_method, pkey_method};

/// A parameter set as OpenSSL sees it.
pub(crate) trait Scheme: Params {
    /// Short and long name of the object, and the PEM and command-line name.
    const OBJECT_NAME: &'static CStr;
    /// Object identifier in dotted form.
    const OID: &'static CStr;
    /// What `openssl list -public-key-algorithms` says about it.
    const DESCRIPTION: &'static CStr;
    /// Strength in bits, as OpenSSL's security levels count.
    const SECURITY_BITS: c_int;

    /// The row of the table.
    fn row() -> &'static Row;
    /// The ready key pairs.
    fn stock() -> &'static Stock<Self>
    where
        Self: Sized;
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
    /// Number of ready key pairs.
    pub(crate) stock_level: fn() -> usize,
    /// Key pairs made at a time.
    pub(crate) set_batch_size: fn(usize) -> Result<(), Error>,
    /// Wipes the ready key pairs.
    pub(crate) clear_stock: fn(),
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
            stock_level: || S::stock().level(),
            set_batch_size: |size| S::stock().set_batch_size(size),
            clear_stock: || S::stock().clear(),
        }
    }
}

macro_rules! schemes {
    ($($params:ident: $name:literal, $oid:literal, $description:literal, $security_bits:literal bits;)+) => {
        $(impl Scheme for $params {
            const OBJECT_NAME: &'static CStr = $name;
            const OID: &'static CStr = $oid;
            const DESCRIPTION: &'static CStr = $description;
            const SECURITY_BITS: c_int = $security_bits;

            fn row() -> &'static Row {
                static ROW: Row = Row::of::<$params>();
                &ROW
            }

            fn stock() -> &'static Stock<Self> {
                static STOCK: Stock<$params> = Stock::new();
                &STOCK
            }
        })+

        /// How many schemes there are.
        pub(crate) const COUNT: usize = [$($name),+].len();

        /// Every row.
        pub(crate) fn all() -> [&'static Row; COUNT] {
            [$($params::row()),+]
        }
    };
}

schemes! {
    Sntrup761: c"sntrup761", c"2.25.324341873410083312134409510976690305945.1.761",
        c"Streamlined NTRU Prime 761 (engNTRU)", 128 bits;
    Sntrup857: c"sntrup857", c"2.25.324341873410083312134409510976690305945.1.857",
        c"Streamlined NTRU Prime 857 (engNTRU)", 192 bits;
}
