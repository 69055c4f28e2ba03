//! Random sources and schoolbook arithmetic that the tests share.
#![allow(dead_code, reason = "each test binary uses its own part")]

use aes::Aes256;
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use sntrup_core::{RandomError, RandomSource};

/// The AES-256-CTR DRBG of the NIST known-answer generator (SP 800-90A, 10.2.1, without derivation function): every
/// request ends with an update of the state.
pub(crate) struct NistDrbg {
    key: [u8; 32],
    counter: u128,
}

impl NistDrbg {
    pub(crate) fn new(seed: &[u8; 48]) -> Self {
        let mut drbg = Self { key: [0; 32], counter: 0 };
        drbg.update(seed);
        drbg
    }

    fn blocks(&mut self, out: &mut [u8]) {
        let cipher = Aes256::new(&Array::from(self.key));
        for chunk in out.chunks_mut(16) {
            self.counter = self.counter.wrapping_add(1);
            let mut block = Array::from(self.counter.to_be_bytes());
            cipher.encrypt_block(&mut block);
            chunk.copy_from_slice(&block[..chunk.len()]);
        }
    }

    fn update(&mut self, data: &[u8; 48]) {
        let mut state = [0; 48];
        self.blocks(&mut state);
        state.iter_mut().zip(data).for_each(|(s, d)| *s ^= d);
        self.key.copy_from_slice(&state[..32]);
        self.counter = u128::from_be_bytes(state[32..].try_into().unwrap());
    }

    pub(crate) fn bytes(&mut self, out: &mut [u8]) {
        self.blocks(out);
        self.update(&[0; 48]);
    }
}

impl RandomSource for NistDrbg {
    fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
        self.bytes(out);
        Ok(())
    }
}

/// A repeatable random source for a test: the DRBG above, seeded with a number.
pub(crate) fn seeded(seed: u64) -> NistDrbg {
    let mut full = [0x5a; 48];
    full[..8].copy_from_slice(&seed.to_le_bytes());
    NistDrbg::new(&full)
}

/// Counts the requests and fails from the `fail_at`-th on (counted from 1) for `failures` requests.
pub(crate) struct Faulty<R> {
    pub(crate) inner: R,
    pub(crate) requests: usize,
    pub(crate) fail_at: usize,
    pub(crate) failures: usize,
}

impl<R> Faulty<R> {
    pub(crate) fn new(inner: R, fail_at: usize) -> Self {
        Self { inner, requests: 0, fail_at, failures: 1 }
    }
}

impl<R: RandomSource> RandomSource for Faulty<R> {
    fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
        self.requests += 1;
        if (self.fail_at..self.fail_at + self.failures).contains(&self.requests) {
            out[0] = 1; // a short answer: part of the buffer was written
            return Err(RandomError);
        }
        self.inner.fill(out)
    }
}
