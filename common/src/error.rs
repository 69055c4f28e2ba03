//! Errors: a reason from a fixed list, with a text that OpenSSL shows, and a detail.

use std::ffi::{CStr, c_int};

use sntrup_core::RandomError;

/// An enum whose members have a number and a text for OpenSSL.
pub trait Code: Copy + 'static {
    /// Every member.
    const ALL: &'static [Self];

    /// The number.
    fn number(self) -> c_int;
    /// The text that OpenSSL shows.
    fn text(self) -> &'static CStr;
}

/// Makes an enum of [`Code`]s from lines `Member = number, c"text";`. `number` and `text` are constant functions too.
#[macro_export]
macro_rules! codes {
    ($(#[$doc:meta])* $vis:vis $name:ident:
        $($(#[$member_doc:meta])* $member:ident = $code:literal, $string:literal;)+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $name {
            $($(#[$member_doc])* #[doc = concat!("Shown as ", stringify!($string), ".")] $member = $code,)+
        }

        impl $name {
            /// The number.
            #[allow(dead_code, reason = "tables are made of it, and not every library has one")]
            $vis const fn number(self) -> ::std::ffi::c_int {
                self as ::std::ffi::c_int
            }

            /// The text that OpenSSL shows.
            $vis const fn text(self) -> &'static ::std::ffi::CStr {
                match self {
                    $($name::$member => $string,)+
                }
            }
        }

        impl $crate::error::Code for $name {
            const ALL: &'static [Self] = &[$($name::$member,)+];

            fn number(self) -> ::std::ffi::c_int {
                self.number()
            }

            fn text(self) -> &'static ::std::ffi::CStr {
                self.text()
            }
        }
    };
}

codes! {
    /// What went wrong.
    pub Reason:
    WrongLength = 100, c"wrong length";
    RandomFailed = 101, c"the random generator failed";
    NoKey = 102, c"there is no key in this object";
    PublicOnly = 103, c"a private key is needed, but the object holds a public key only";
    NoSharedSecret = 104, c"no shared secret is waiting: call EVP_PKEY_encrypt or EVP_PKEY_decrypt first";
    PlaintextGiven = 105, c"the input must be NULL: a KEM chooses the secret itself";
    OutputGiven = 106, c"the output must be NULL: fetch the secret with EVP_PKEY_derive";
    BufferTooSmall = 107, c"buffer too small";
    NullArgument = 108, c"an argument is NULL";
    WrongKeyType = 109, c"the key is of another type";
    BadEncoding = 110, c"wrong encoding";
    InconsistentKey = 111, c"the private key does not belong to the public key inside it";
    Libcrypto = 112, c"a call into libcrypto failed";
    BadBatchSize = 113, c"bad value for BATCH_SIZE";
    BadBackend = 114, c"bad value for BACKEND";
    NotRegistered = 115, c"no engine is registered for this key type: call ENGINE_set_default or ENGINE_register_complete";
    AlreadyBound = 116, c"the engine is already bound in this process";
    Kem = 117, c"the key encapsulation mechanism reported an error";
    PanicStopped = 118, c"internal error: a panic was stopped at the border";
    ForeignObject = 119, c"another object has this name already";
    BadGroup = 120, c"bad value for a group's code point";
    BadPoint = 121, c"the X25519 share is a point of small order";
    Unsupported = 122, c"this is not supported";
    BadBackgroundRefill = 123, c"bad value for BACKGROUND_REFILL";
}

/// An error on its way to C.
#[derive(Debug)]
pub struct Error {
    reason: Reason,
    detail: Option<String>,
}

impl Error {
    /// An error without a detail.
    #[must_use]
    pub fn new(reason: Reason) -> Self {
        Self { reason, detail: None }
    }

    /// Adds what the reason alone does not say: the value, the expectation. Never secret.
    #[must_use]
    pub fn with(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// The reason.
    #[must_use]
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// The detail, if there is one.
    #[must_use]
    pub fn detail(&self) -> Option<&str> {
        self.detail.as_deref()
    }
}

impl From<sntrup_core::Error> for Error {
    fn from(error: sntrup_core::Error) -> Self {
        let reason = match error {
            sntrup_core::Error::Length { .. } => Reason::WrongLength,
            sntrup_core::Error::Random => Reason::RandomFailed,
            sntrup_core::Error::BatchSize { .. } => Reason::BadBatchSize,
            sntrup_core::Error::Backend { .. } => Reason::BadBackend,
            _ => Reason::Kem,
        };
        Self::new(reason).with(error.to_string())
    }
}

impl From<RandomError> for Error {
    fn from(_: RandomError) -> Self {
        Self::new(Reason::RandomFailed)
    }
}
