//! A generator of many random numbers from one seed of the caller's random source: ChaCha20 (RFC 8439) with fast key
//! erasure.
//!
//! A batch of keys needs 1.5 to 2 kB of randomness for each key. One request of 32 bytes to the caller's source seeds
//! this generator, and everything else of that call comes from it.
//!
//! # Why 32 bytes are enough
//!
//! The seed is a uniform 256-bit ChaCha20 key that serves one call and is used for nothing else. Whoever tells its
//! keystream from uniform bits breaks ChaCha20 as a pseudorandom function, or finds the key among 2^256; even against
//! 2^64 calls at once that leaves 2^192 trials, far more than the KEM itself claims to withstand. Counter and nonce
//! start at zero for every key, since no key serves two runs of the generator.
//!
//! # Erasure
//!
//! Each refill computes [`BUFFER_WORDS`] words; the first 256 bits replace the key at once, and no word leaves the
//! buffer without being wiped there. Who reads this memory later learns nothing of what was handed out before
//! (backtracking resistance). The generator dies with the call that made it, and wipes the rest then.

use crate::backend::Kernels;
use crate::backend::chacha20::OCTET_WORDS;
use crate::error::Error;
use crate::rng::{RandomError, RandomSource};
use crate::wipe::{Secret, wipe};

/// Words of a ChaCha20 key.
const KEY_WORDS: usize = 8;
/// Octets of blocks in one refill.
const OCTETS: usize = 8;
/// Words of one refill, those of the next key included.
const BUFFER_WORDS: usize = OCTETS * OCTET_WORDS;

/// The seed of one generator, drawn ahead of its use. As a random source it answers the one request that a generator makes,
/// and is empty then.
pub(crate) struct Seed(Secret<[u8; 4 * KEY_WORDS]>, bool);

impl Seed {
    /// # Errors
    /// [`Error::Random`] if the random source fails.
    pub(crate) fn draw(rng: &mut (impl RandomSource + ?Sized)) -> Result<Self, Error> {
        let mut seed = Secret::<[u8; 4 * KEY_WORDS]>::zeroed();
        rng.fill(seed.as_mut_slice())?;
        Ok(Self(seed, true))
    }
}

impl RandomSource for Seed {
    fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
        if !std::mem::replace(&mut self.1, false) || out.len() != self.0.len() {
            return Err(RandomError);
        }
        out.copy_from_slice(&*self.0);
        wipe(self.0.as_mut_slice());
        Ok(())
    }
}

/// The generator.
pub(crate) struct Drbg<K: Kernels> {
    key: Secret<[u32; KEY_WORDS]>,
    buffer: Secret<[u32; BUFFER_WORDS]>,
    /// Number of words of the buffer that are used up (and wiped).
    used: usize,
    kernels: K,
}

impl<K: Kernels> Drbg<K> {
    /// A generator with a seed from `rng`: one request of 32 bytes.
    ///
    /// # Errors
    /// [`Error::Random`] if the random source fails.
    pub(crate) fn new(rng: &mut dyn RandomSource, kernels: K) -> Result<Self, Error> {
        let seed = Seed::draw(rng)?;
        Ok(Self::from_seed(&seed.0, kernels))
    }

    /// A generator with this seed, which must be uniform and be used for nothing else.
    pub(crate) fn from_seed(seed: &[u8; 4 * KEY_WORDS], kernels: K) -> Self {
        let mut key = Secret::<[u32; KEY_WORDS]>::zeroed();
        for (word, bytes) in key.iter_mut().zip(seed.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        Self { key, buffer: Secret::zeroed(), used: BUFFER_WORDS, kernels }
    }

    /// The kernels that the generator uses.
    pub(crate) fn kernels(&self) -> K {
        self.kernels
    }

    /// Fills `out` with random words.
    pub(crate) fn fill(&mut self, mut out: &mut [u32]) {
        while !out.is_empty() {
            if self.used == BUFFER_WORDS {
                self.refill();
            }
            let n = out.len().min(BUFFER_WORDS - self.used);
            let (now, later) = out.split_at_mut(n);
            let served = &mut self.buffer[self.used..self.used + n];
            now.copy_from_slice(served);
            wipe(served);
            self.used += n;
            out = later;
        }
    }

    /// Fills `out` with random words of 64 bits.
    pub(crate) fn fill_u64(&mut self, out: &mut [u64]) {
        let mut words = [0; 16];
        for chunk in out.chunks_mut(8) {
            let words = &mut words[..2 * chunk.len()];
            self.fill(words);
            for (long, [low, high]) in chunk.iter_mut().zip(words.as_chunks().0) {
                *long = u64::from(*high) << 32 | u64::from(*low);
            }
        }
        wipe(&mut words);
    }

    /// Fills `out` with random bytes.
    pub(crate) fn fill_bytes(&mut self, out: &mut [u8]) {
        let mut words = [0; 16];
        for chunk in out.chunks_mut(64) {
            let words = &mut words[..chunk.len().div_ceil(4)];
            self.fill(words);
            for (bytes, word) in chunk.chunks_mut(4).zip(words) {
                bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
            }
        }
        wipe(&mut words);
    }

    fn refill(&mut self) {
        let (rows, _) = self.buffer.as_chunks_mut::<8>();
        let (octets, _) = rows.as_chunks_mut::<16>();
        self.kernels.keystream(&self.key, octets);
        let next_key = &mut self.buffer[..KEY_WORDS];
        self.key.copy_from_slice(next_key);
        wipe(next_key);
        self.used = KEY_WORDS;
    }
}
