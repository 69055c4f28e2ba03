//! The heavy kernels and the choice among their implementations.
//!
//! A public operation reads [`Backend::active`] once and passes the backend's token down; whoever holds a token may
//! call its kernels. All implementations give the same results for all inputs within the stated ranges, and the tests
//! hold each of them against the portable one and against schoolbook arithmetic.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::error::Error;
use crate::params::Params;

mod portable;
#[cfg(test)]
mod tests;

pub(crate) use portable::Portable;

/// Whole kernels over padded coefficient arrays (see [`Params`]); the padding is zero on entry and on exit.
///
/// "Canonical" means in [-(q-1)/2, (q-1)/2]. Every kernel takes the same time for all values.
pub(crate) trait Kernels: Copy {
    /// `h` = `a` * `b` in R/q, canonical; `a` and `b` canonical.
    fn mul_rq<P: Params>(self, h: &mut P::Coeffs, a: &P::Coeffs, b: &P::Coeffs);

    /// `h` = `a` * `b` in R/3, coefficients in {-1, 0, 1}, as are those of `a` and `b`.
    fn mul_r3<P: Params>(self, h: &mut P::Coeffs, a: &P::Coeffs, b: &P::Coeffs);

    /// `out` = 1/`a` in R/q, canonical; `a` canonical. The result for 0 is 0; everything else has an inverse.
    fn recip_rq<P: Params>(self, out: &mut P::Coeffs, a: &P::Coeffs);

    /// `out` = 1/`a` in R/3, coefficients in {-1, 0, 1}, as are those of `a`. Returns all ones if `a` has an inverse,
    /// else zero, and then `out` is of no use.
    fn recip_r3<P: Params>(self, out: &mut P::Coeffs, a: &P::Coeffs) -> u32;

    /// `a` = `a` rounded to the nearest multiples of 3; `a` canonical, and then the result is too.
    fn round<P: Params>(self, a: &mut P::Coeffs);

    /// `e` = 3 * `a`, frozen to R/q and then taken modulo 3, coefficients in {-1, 0, 1}; `a` canonical.
    fn triple_mod3<P: Params>(self, e: &mut P::Coeffs, a: &P::Coeffs);

    /// All ones if `a`, with coefficients in {-1, 0, 1}, has exactly w non-zero ones, else zero.
    fn weight_is_w<P: Params>(self, a: &P::Coeffs) -> u32;

    /// Sorts the words, smallest first. The length is public.
    fn sort(self, words: &mut [u32]);

    /// Encodes canonical `h` into `PUBLIC_KEY_BYTES` bytes.
    fn encode_rq<P: Params>(self, out: &mut [u8], h: &P::Coeffs);

    /// Decodes `PUBLIC_KEY_BYTES` bytes to canonical `h`; any string decodes.
    fn decode_rq<P: Params>(self, h: &mut P::Coeffs, s: &[u8]);

    /// Encodes `c`, canonical multiples of 3, into `CIPHERTEXT_BYTES` - 32 bytes.
    fn encode_rounded<P: Params>(self, out: &mut [u8], c: &P::Coeffs);

    /// Decodes `CIPHERTEXT_BYTES` - 32 bytes to `c`, canonical multiples of 3; any string decodes.
    fn decode_rounded<P: Params>(self, c: &mut P::Coeffs, s: &[u8]);
}

/// An implementation of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u8)]
pub enum Backend {
    /// Plain Rust, for every processor.
    Portable = 1,
}

/// The backend in use, as its number; 0 until the first operation or selection.
static ACTIVE: AtomicU8 = AtomicU8::new(0);

impl Backend {
    /// The backends that this processor can run, the fastest last.
    pub fn available() -> &'static [Backend] {
        &[Backend::Portable]
    }

    /// The backend that operations use from now on: the selected one, else the fastest that the processor can run.
    pub fn active() -> Backend {
        let number = ACTIVE.load(Ordering::Relaxed);
        let available = Self::available();
        // Threads that come here first at the same time find the same answer.
        available.iter().copied().find(|&b| b as u8 == number).unwrap_or_else(|| {
            let fastest = available[available.len() - 1];
            ACTIVE.store(fastest as u8, Ordering::Relaxed);
            fastest
        })
    }

    /// Makes all operations that start from now on use `backend`.
    ///
    /// # Errors
    /// [`Error::Backend`] if this processor cannot run it.
    pub fn select(backend: Backend) -> Result<(), Error> {
        if !Self::available().contains(&backend) {
            return Err(Self::refuse(&backend.to_string()));
        }
        ACTIVE.store(backend as u8, Ordering::Relaxed);
        Ok(())
    }

    /// The error about a name.
    fn refuse(name: &str) -> Error {
        let available: Vec<String> = Self::available().iter().map(ToString::to_string).collect();
        Error::Backend { name: name.to_owned(), available: available.join(", ") }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Backend::Portable => "portable",
        })
    }
}

impl FromStr for Backend {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "portable" => Ok(Backend::Portable),
            _ => Err(Self::refuse(name)),
        }
    }
}

/// Evaluates an expression with `$token` bound to the active backend's token.
macro_rules! with_backend {
    ($token:ident => $body:expr) => {
        match $crate::backend::Backend::active() {
            $crate::backend::Backend::Portable => {
                let $token = $crate::backend::Portable;
                $body
            }
        }
    };
}
pub(crate) use with_backend;
