//! The caller's random source: it may fail, and its failure ends the operation.

use std::fmt;

/// A cryptographic random source that the caller provides.
pub trait RandomSource {
    /// Fills `out` with uniform bytes, or fails; after a failure the content of `out` is not used.
    ///
    /// # Errors
    /// [`RandomError`] if not all bytes could be had.
    fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError>;
}

impl<R: RandomSource + ?Sized> RandomSource for &mut R {
    fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
        (**self).fill(out)
    }
}

/// The random source failed; it says no more than that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomError;

impl fmt::Display for RandomError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the random source failed")
    }
}

impl std::error::Error for RandomError {}
