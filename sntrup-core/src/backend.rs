//! The heavy kernels and the choice among their implementations.
//!
//! A public operation reads [`Backend::active`] once and passes the backend's token down; whoever holds a token may
//! call its kernels. All implementations give the same results for all inputs within the stated ranges, and the tests
//! hold each of them against the portable one and against schoolbook arithmetic.

#![allow(dead_code)]

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::error::Error;
use crate::params::Params;

#[cfg(target_arch = "x86_64")]
mod avx2;
pub(crate) mod chacha20;
pub(crate) mod codec;
pub(crate) mod constants;
pub(crate) mod divsteps3;
#[cfg(target_arch = "x86_64")]
mod entry;
pub(crate) mod euclid;
pub(crate) mod lanes;
pub(crate) mod multiplier;
mod portable;
pub(crate) mod sample;
pub(crate) mod sha512;
pub(crate) mod sort;
#[cfg(test)]
mod tests;
pub(crate) mod transform;
pub(crate) mod values;
mod words;

#[cfg(target_arch = "x86_64")]
pub(crate) use lanes::Avx2;
pub(crate) use portable::Portable;

/// Whole kernels over padded coefficient arrays (see [`Params`]); the padding is zero on entry and on exit.
///
/// "Canonical" means in [-(q-1)/2, (q-1)/2]. Every kernel takes the same time for all values.
pub(crate) trait Kernels: lanes::Level {
    /// All ones if `a`, with coefficients in {-1, 0, 1}, has exactly w non-zero ones, else zero.
    fn weight_is_w<P: Params>(self, a: &P::Coeffs) -> u32;

    /// Makes a short element of one word for each coefficient by sorting; see [`sort::short_portable`].
    fn short(self, words: &[u8], weight: usize, out: &mut [i16]);

    /// Advances a SHA-512 chaining value over message blocks.
    fn compress(self, state: &mut sha512::State, blocks: &[sha512::Block]);

    /// Advances two SHA-512 chaining values over as many message blocks each, side by side where that is faster.
    fn compress2(self, states: [&mut sha512::State; 2], blocks: [&[sha512::Block]; 2]);

    /// Advances four SHA-512 chaining values over as many message blocks each.
    fn compress4(self, state: &mut sha512::State4, blocks: [&[sha512::Block]; 4]);

    /// Writes the first ChaCha20 blocks of `key`.
    fn keystream(self, key: &[u32; 8], out: &mut [chacha20::Octet]);

    /// Turns bytes below 243 into trits less 1; see [`sample::trits_portable`].
    fn trits(self, bytes: &mut [[i16; 16]], out: &mut [[i16; 16]]);

    /// Turns bits into coefficients in {-1, 0, 1}; see [`sample::expand_portable`].
    fn expand(self, nonzero: &[u64], negative: &[u64], out: &mut [[i16; 16]]);

    /// Draws the head of a short element; see [`sample::head_portable`].
    fn head(self, trial: &sample::Trial, random: &[u64], choice: u64, chosen: &mut [u64]) -> (u32, u32);

    /// Sorts tagged random numbers in eight lanes; see [`sample::sort_tails_portable`].
    fn sort_tails(self, tails: &mut sample::Tails) -> ([u64; 8], u32);

    /// Encodes canonical `h` into `PUBLIC_KEY_BYTES` bytes.
    fn encode_rq<P: Params>(self, out: &mut [u8], h: &P::Coeffs);

    /// Decodes `PUBLIC_KEY_BYTES` bytes to canonical `h`; any string decodes.
    fn decode_rq<P: Params>(self, h: &mut P::Coeffs, s: &[u8]);

    /// Encodes `c`, canonical multiples of 3, into `CIPHERTEXT_BYTES` - 32 bytes.
    fn encode_rounded<P: Params>(self, out: &mut [u8], c: &P::Coeffs);

    /// Decodes `CIPHERTEXT_BYTES` - 32 bytes to `c`, canonical multiples of 3; any string decodes.
    fn decode_rounded<P: Params>(self, c: &mut P::Coeffs, s: &[u8]);

    /// Encodes `a`, with coefficients in {-1, 0, 1}, into (p + 3)/4 bytes.
    fn encode_small<P: Params>(self, out: &mut [u8], a: &P::Coeffs);

    /// Decodes (p + 3)/4 bytes to coefficients in {-1, 0, 1}; `two` (2 or -1) stands for the 2 that no encoder makes.
    fn decode_small<P: Params>(self, a: &mut P::Coeffs, s: &[u8], two: i16);
}

/// An implementation of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u8)]
pub enum Backend {
    /// For every processor.
    Portable = 1,
    /// For x86-64 processors with AVX2, BMI1, BMI2 and POPCNT. Some of its kernels use AVX-512VL, on 256-bit registers,
    /// where the processor has it.
    #[cfg(target_arch = "x86_64")]
    Avx2 = 2,
}

/// The tokens: who holds one may call its kernels.
pub(crate) enum Token {
    Portable(Portable),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
}

/// The backend in use, as its number; 0 until the first operation or selection.
static ACTIVE: AtomicU8 = AtomicU8::new(0);

impl Backend {
    /// The backends that this processor can run, the fastest last.
    pub fn available() -> &'static [Backend] {
        #[cfg(target_arch = "x86_64")]
        if Avx2::detect().is_some() {
            return &[Backend::Portable, Backend::Avx2];
        }
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

    /// The token of the active backend.
    pub(crate) fn token() -> Token {
        #[cfg(target_arch = "x86_64")]
        if Self::active() == Backend::Avx2
            && let Some(avx2) = Avx2::detect()
        {
            return Token::Avx2(avx2);
        }
        Token::Portable(Portable)
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
            #[cfg(target_arch = "x86_64")]
            Backend::Avx2 => "avx2",
        })
    }
}

impl FromStr for Backend {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "portable" => Ok(Backend::Portable),
            #[cfg(target_arch = "x86_64")]
            "avx2" => Ok(Backend::Avx2),
            _ => Err(Self::refuse(name)),
        }
    }
}

/// Evaluates an expression with `$token` bound to the active backend's token.
macro_rules! with_backend {
    ($token:ident => $body:expr) => {
        match $crate::backend::Backend::token() {
            $crate::backend::Token::Portable($token) => $body,
            #[cfg(target_arch = "x86_64")]
            $crate::backend::Token::Avx2($token) => $body,
        }
    };
}
pub(crate) use with_backend;
