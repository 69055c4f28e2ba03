//! What can go wrong, said so that the reader knows what, where and what to do.

use std::fmt;

use crate::rng::RandomError;

/// An error of this crate. A forged ciphertext is none: decapsulation answers it with an unrelated secret.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A byte string has the wrong length for what it is said to be.
    Length {
        /// What was to be read, such as `sntrup761 public key`.
        what: &'static str,
        /// Its length in bytes.
        expected: usize,
        /// The length in bytes that was given.
        got: usize,
    },
    /// The caller's random source failed. Nothing was made; the call may be repeated.
    Random,
    /// A batch size outside 1..=`max`.
    BatchSize {
        /// The size that was asked for.
        got: usize,
        /// The largest allowed size.
        max: usize,
    },
    /// A backend that is unknown or that this processor cannot run.
    Backend {
        /// The name that was given.
        name: String,
        /// The names that can be given, separated by commas.
        available: String,
    },
    /// The operating system gave no memory.
    Memory {
        /// The number of bytes that were asked for.
        bytes: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Length { what, expected, got } => write!(
                f,
                "{what}: expected {expected} bytes, got {got}; pass the raw encoding of this parameter set \
                 (keys of the older sntrup4591761 scheme are not compatible)"
            ),
            Error::Random => {
                f.write_str("the random source failed, so nothing was generated; check its seeding and try again")
            }
            Error::BatchSize { got, max } => write!(f, "batch size {got} is out of range; choose 1 to {max}"),
            Error::Backend { name, available } => {
                write!(f, "backend \"{name}\" is unknown or cannot run on this processor; choose one of: {available}")
            }
            Error::Memory { bytes } => {
                write!(f, "the operating system refused {bytes} bytes of memory; free some or raise the limit")
            }
        }
    }
}

impl std::error::Error for Error {}

impl From<RandomError> for Error {
    fn from(_: RandomError) -> Self {
        Error::Random
    }
}
