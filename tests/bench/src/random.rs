//! Random sources, so that we can be run on the same one as each peer.

use crate::clock::ticks;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use sntrup_core::{RandomError, RandomSource};

/// A user-space generator seeded once: what `sntrup` and `libcrux` are given here.
pub const USER: &str = "ChaCha12 in user space (rand::StdRng), seeded once";
/// The kernel: what `pqcrypto` asks.
pub const SYSTEM: &str = "getrandom(2), a system call for each request";
/// The generator of aws-lc.
pub const AWS_LC: &str = "AWS-LC's CTR_DRBG, 32 bytes of rdrand mixed into each request";
/// The generator of libcrypto.
pub const LIBCRYPTO: &str = "libcrypto's RAND_bytes (CTR_DRBG)";

/// A fresh user-space generator.
pub fn user() -> StdRng {
    let mut seed = [0u8; 32];
    getrandom::fill(&mut seed).expect("the system's random source works");
    StdRng::from_seed(seed)
}

/// A random source of [`USER`], [`SYSTEM`], [`AWS_LC`] or [`LIBCRYPTO`], for our own operations.
pub enum Source {
    /// [`USER`].
    User(Box<StdRng>),
    /// [`SYSTEM`].
    System,
    /// [`AWS_LC`].
    AwsLc,
    /// [`LIBCRYPTO`].
    Libcrypto,
}

impl Source {
    /// A fresh source of kind [`USER`].
    pub fn user() -> Self {
        Source::User(Box::new(user()))
    }
}

/// Bytes of a request: a seed, and what the specified sampler of sntrup761 draws for a short element.
pub const REQUESTS: [usize; 2] = [32, 4 * 761];

/// Each source by name, with the median ticks of the [`REQUESTS`] taken by themselves.
pub fn costs() -> [(&'static str, [f64; 2]); 4] {
    let sources =
        [(USER, Source::user()), (SYSTEM, Source::System), (AWS_LC, Source::AwsLc), (LIBCRYPTO, Source::Libcrypto)];
    sources.map(|(name, mut source)| {
        let median = REQUESTS.map(|bytes| {
            let mut out = vec![0; bytes];
            let mut samples: Vec<u64> = (0..1000)
                .map(|_| {
                    let start = ticks();
                    source.fill(&mut out).expect("the random source works");
                    ticks() - start
                })
                .collect();
            samples.sort_unstable();
            samples[samples.len() / 2] as f64
        });
        (name, median)
    })
}

impl RandomSource for Source {
    fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
        match self {
            Source::User(rng) => rng.fill_bytes(out),
            Source::System => getrandom::fill(out).map_err(|_| RandomError)?,
            Source::AwsLc => aws_lc_rs::rand::fill(out).map_err(|_| RandomError)?,
            // SAFETY: the pointer and the length are those of one exclusive slice.
            Source::Libcrypto => unsafe { oqs_sys::rand::OQS_randombytes(out.as_mut_ptr(), out.len()) },
        }
        Ok(())
    }
}
