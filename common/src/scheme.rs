//! The schemes that engine and provider serve: one row each.
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
//!
//! The code points are from TLS's range for private use (RFC 8446, section 11).

use std::ffi::{CStr, c_int};

use sntrup_core::{Error, Params, Sntrup761, Sntrup857, Stock};

/// A parameter set as OpenSSL sees it.
pub trait Scheme: Params {
    /// Short and long name of the object, and the PEM and command-line name.
    const OBJECT_NAME: &'static CStr;
    /// Object identifier in dotted form.
    const OID: &'static CStr;
    /// What OpenSSL's lists of algorithms say about it.
    const DESCRIPTION: &'static CStr;
    /// Strength in bits, as OpenSSL's security levels count.
    const SECURITY_BITS: c_int;
    /// Code point of the TLS group.
    const GROUP: u16;

    /// The ready key pairs.
    fn stock() -> &'static Stock<Self>
    where
        Self: Sized;
}

/// What one does with the stock of any scheme.
#[derive(Debug)]
pub struct StockOf {
    /// The scheme's name.
    pub name: &'static str,
    /// Number of ready key pairs.
    pub level: fn() -> usize,
    /// Sets the number of key pairs made at a time.
    pub set_batch_size: fn(usize) -> Result<(), Error>,
    /// Sets whether a thread refills it.
    pub set_background_refill: fn(bool),
    /// Wipes the ready key pairs.
    pub clear: fn(),
}

macro_rules! schemes {
    ($($params:ident: $name:literal, $oid:literal, $description:literal, $bits:literal bits, group $group:literal;)+) => {
        $(impl Scheme for $params {
            const OBJECT_NAME: &'static CStr = $name;
            const OID: &'static CStr = $oid;
            const DESCRIPTION: &'static CStr = $description;
            const SECURITY_BITS: c_int = $bits;
            const GROUP: u16 = $group;

            fn stock() -> &'static Stock<Self> {
                static STOCK: Stock<$params> = Stock::new();
                &STOCK
            }
        })+

        /// The stock of every scheme.
        pub static STOCKS: [StockOf; [$($name),+].len()] = [$(StockOf {
            name: <$params as Params>::NAME,
            level: || $params::stock().level(),
            set_batch_size: |size| $params::stock().set_batch_size(size),
            set_background_refill: |on| $params::stock().set_background_refill(on),
            clear: || $params::stock().clear(),
        }),+];
    };
}

schemes! {
    Sntrup761: c"sntrup761", c"2.25.324341873410083312134409510976690305945.1.761",
        c"Streamlined NTRU Prime 761 (engNTRU)", 128 bits, group 0xFEB1;
    Sntrup857: c"sntrup857", c"2.25.324341873410083312134409510976690305945.1.857",
        c"Streamlined NTRU Prime 857 (engNTRU)", 192 bits, group 0xFEB2;
}
