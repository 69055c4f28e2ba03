//! Random sources and schoolbook arithmetic that the tests share.
#![allow(dead_code, reason = "each test binary uses its own part")]

use aes::Aes256;
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use sha2::{Digest, Sha512};
use sntrup_core::{Params, RandomError, RandomSource};

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

/// The operating system's random source.
pub(crate) struct OsRandom;

impl RandomSource for OsRandom {
    fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
        for chunk in out.chunks_mut(256) {
            // SAFETY: the buffer and its length belong together.
            let got = unsafe { libc::getrandom(chunk.as_mut_ptr().cast(), chunk.len(), 0) };
            if got != chunk.len() as isize {
                return Err(RandomError);
            }
        }
        Ok(())
    }
}

/// The small element that a secret key holds at `part` (0: f, 1: 1/g), decoded by the definition.
pub(crate) fn small<P: Params>(secret_key: &[u8], part: usize) -> Vec<i64> {
    let n = P::P.div_ceil(4);
    let bytes = &secret_key[part * n..][..n];
    (0..P::P).map(|i| i64::from(bytes[i / 4] >> (2 * (i % 4)) & 3) - 1).collect()
}

/// The product modulo x^p - x - 1 and m, centred, by the definition.
pub(crate) fn product<P: Params>(a: &[i64], b: &[i64], m: i64) -> Vec<i64> {
    let p = P::P;
    let mut c = vec![0; 2 * p - 1];
    for (i, &x) in a.iter().enumerate() {
        for (c, &y) in c[i..].iter_mut().zip(b) {
            *c += x * y;
        }
    }
    for i in (p..2 * p - 1).rev() {
        c[i - p] += c[i];
        c[i - p + 1] += c[i];
    }
    c[..p].iter().map(|&x| (x + (m - 1) / 2).rem_euclid(m) - (m - 1) / 2).collect()
}

/// The coefficients of a public key, centred, by the definition's recursion.
pub(crate) fn decode_public_key<P: Params>(bytes: &[u8]) -> Vec<i64> {
    fn decode(s: &[u8], moduli: &[u64]) -> Vec<u64> {
        if let [m] = moduli {
            return vec![s.iter().rev().fold(0, |r, &byte| r << 8 | u64::from(byte)) % m];
        }
        let (mut at, mut bottoms, mut radices) = (0, Vec::new(), Vec::new());
        for m in moduli.chunks(2) {
            let (mut radix, mut r, mut t) = (m.iter().product::<u64>(), 0, 1);
            while m.len() == 2 && radix >= 16384 {
                r += t * u64::from(s[at]);
                (at, t, radix) = (at + 1, t << 8, radix.div_ceil(256));
            }
            bottoms.push((r, t));
            radices.push(radix);
        }
        let tops = decode(&s[at..], &radices);
        let mut values = Vec::new();
        for ((m, (r, t)), top) in moduli.chunks(2).zip(bottoms).zip(tops) {
            let r = r + t * top;
            values.push(r % m[0]);
            values.extend(m.get(1).map(|m1| r / m[0] % m1));
        }
        values
    }
    let q = i64::from(P::Q);
    decode(bytes, &vec![q as u64; P::P]).into_iter().map(|x| x as i64 - (q - 1) / 2).collect()
}

/// Hash_b of the specification, computed apart from the crate.
pub(crate) fn hash(prefix: u8, parts: &[&[u8]]) -> [u8; 32] {
    let mut state = Sha512::new_with_prefix([prefix]);
    parts.iter().for_each(|part| state.update(part));
    state.finalize()[..32].try_into().unwrap()
}
