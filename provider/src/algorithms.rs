//! What the provider serves, in OpenSSL's tables: operation, algorithm, functions.

use std::ffi::{CStr, c_int};
use std::ptr;

use sntrup_core::{Sntrup761, Sntrup857};

use crate::decoder::Decoder;
use crate::encoder::{Der, Encoder, Pem, Private, Public, Text};
use crate::ffi::sys::{self, OSSL_ALGORITHM, OSSL_DISPATCH};
use crate::hybrid::Hybrid;
use crate::kem::Kem;
use crate::key::Key;
use crate::keymgmt::Keymgmt;
use crate::plain::Plain;

struct Table<const N: usize>([OSSL_ALGORITHM; N]);

// SAFETY: the tables and what they point to are constant.
unsafe impl<const N: usize> Sync for Table<N> {}

const fn row<K: Key>(properties: &'static CStr, functions: &'static [OSSL_DISPATCH]) -> OSSL_ALGORITHM {
    OSSL_ALGORITHM {
        algorithm_names: K::NAME.as_ptr(),
        property_definition: properties.as_ptr(),
        implementation: functions.as_ptr(),
        algorithm_description: K::DESCRIPTION.as_ptr(),
    }
}

const END: OSSL_ALGORITHM = OSSL_ALGORITHM {
    algorithm_names: ptr::null(),
    property_definition: ptr::null(),
    implementation: ptr::null(),
    algorithm_description: ptr::null(),
};

/// The four tables, with the same rows for each key type.
macro_rules! tables {
    ($($key:ty),+) => {
        const COUNT: usize = [$(stringify!($key)),+].len();

        static KEYMGMTS: Table<{ COUNT + 1 }> =
            Table([$(row::<$key>(c"provider=ntruprime", Keymgmt::<$key>::TABLE),)+ END]);

        static KEMS: Table<{ COUNT + 1 }> = Table([$(row::<$key>(c"provider=ntruprime", Kem::<$key>::TABLE),)+ END]);

        static ENCODERS: Table<{ 5 * COUNT + 1 }> = Table([
            $(
                row::<$key>(
                    c"provider=ntruprime,output=der,structure=PrivateKeyInfo",
                    Encoder::<$key, Der<Private>>::TABLE,
                ),
                row::<$key>(
                    c"provider=ntruprime,output=pem,structure=PrivateKeyInfo",
                    Encoder::<$key, Pem<Private>>::TABLE,
                ),
                row::<$key>(
                    c"provider=ntruprime,output=der,structure=SubjectPublicKeyInfo",
                    Encoder::<$key, Der<Public>>::TABLE,
                ),
                row::<$key>(
                    c"provider=ntruprime,output=pem,structure=SubjectPublicKeyInfo",
                    Encoder::<$key, Pem<Public>>::TABLE,
                ),
                row::<$key>(c"provider=ntruprime,output=text", Encoder::<$key, Text>::TABLE),
            )+
            END,
        ]);

        static DECODERS: Table<{ 2 * COUNT + 1 }> = Table([
            $(
                row::<$key>(
                    c"provider=ntruprime,input=der,structure=PrivateKeyInfo",
                    Decoder::<$key, Private>::TABLE,
                ),
                row::<$key>(
                    c"provider=ntruprime,input=der,structure=SubjectPublicKeyInfo",
                    Decoder::<$key, Public>::TABLE,
                ),
            )+
            END,
        ]);
    };
}

tables!(Plain<Sntrup761>, Plain<Sntrup857>, Hybrid);

/// The table of an operation, NULL if nothing is served.
pub(crate) fn of(operation: c_int) -> *const OSSL_ALGORITHM {
    match operation {
        sys::OSSL_OP_KEYMGMT => KEYMGMTS.0.as_ptr(),
        sys::OSSL_OP_KEM => KEMS.0.as_ptr(),
        sys::OSSL_OP_ENCODER => ENCODERS.0.as_ptr(),
        sys::OSSL_OP_DECODER => DECODERS.0.as_ptr(),
        _ => ptr::null(),
    }
}
