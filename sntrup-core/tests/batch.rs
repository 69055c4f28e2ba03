//! Batches of keys: each is a whole key, equal in kind to one that was made by itself.

mod common;

use std::collections::HashSet;
use std::num::NonZeroUsize;

use common::{NistDrbg, decode_public_key, hash, product, seeded, small};
use sntrup_core::{
    Backend, KeyPair, Params, RandomError, RandomSource, Sntrup653, Sntrup761, Sntrup857, decapsulate, encapsulate,
    generate_batch, generate_key,
};

fn batch<P: Params>(n: usize, seed: u64) -> Vec<KeyPair<P>> {
    generate_batch(NonZeroUsize::new(n).unwrap(), &mut seeded(seed)).unwrap()
}

/// K4: f is short; g = 3fh in R/q is small and the stored 1/g is its inverse in R/3; the hash of the public key is
/// right; single encapsulation and decapsulation work.
fn whole_key<P: Params>(pair: &KeyPair<P>) {
    let sk = pair.secret().as_bytes();
    let (f, g_recip) = (small::<P>(sk, 0), small::<P>(sk, 1));
    assert!(f.iter().chain(&g_recip).all(|x| x.abs() <= 1));
    assert_eq!(f.iter().filter(|&&x| x != 0).count(), P::W);

    let h = decode_public_key::<P>(pair.public().as_bytes());
    let triple: Vec<i64> = f.iter().map(|x| 3 * x).collect();
    let g = product::<P>(&triple, &h, P::Q.into());
    assert!(g.iter().all(|x| x.abs() <= 1), "3fh is small");
    let one: Vec<i64> = (0..P::P).map(|i| i64::from(i == 0)).collect();
    assert_eq!(product::<P>(&g, &g_recip, 3), one);

    let n = P::P.div_ceil(4);
    assert_eq!(&sk[2 * n..2 * n + P::PUBLIC_KEY_BYTES], pair.public().as_bytes());
    assert_eq!(sk[sk.len() - 32..], hash(4, &[pair.public().as_bytes()]));

    let (ciphertext, secret) = encapsulate(pair.public(), &mut seeded(7)).unwrap();
    assert_eq!(decapsulate(&ciphertext, pair.secret()).as_bytes(), secret.as_bytes());
}

fn every_key_is_whole<P: Params>() {
    for &backend in Backend::available() {
        Backend::select(backend).unwrap();
        whole_key(&generate_key::<P>(&mut seeded(1)).unwrap());
        let mut parts = HashSet::new();
        for (seed, n) in [1, 2, 3, 4, 5, 32, 33].into_iter().enumerate() {
            let pairs = batch::<P>(n, seed as u64);
            assert_eq!(pairs.len(), n);
            for pair in &pairs {
                whole_key(pair);
                // No two keys share f, 1/g, h or rho.
                let sk = pair.secret().as_bytes();
                let len = P::P.div_ceil(4);
                for start in [0, len, 2 * len, 2 * len + P::PUBLIC_KEY_BYTES] {
                    assert!(parts.insert(sk[start..start + len].to_vec()));
                }
            }
        }
    }
}

#[test]
fn every_key_of_a_batch_of_sntrup653_is_whole() {
    every_key_is_whole::<Sntrup653>();
}

#[test]
fn every_key_of_a_batch_of_sntrup761_is_whole() {
    every_key_is_whole::<Sntrup761>();
}

#[test]
fn every_key_of_a_batch_of_sntrup857_is_whole() {
    every_key_is_whole::<Sntrup857>();
}

/// Gives words for the element 0, which has no inverse, in the first request.
struct NoInverse {
    inner: NistDrbg,
    requests: Vec<usize>,
}

impl RandomSource for NoInverse {
    fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
        self.inner.bytes(out);
        if self.requests.is_empty() {
            for word in out.chunks_mut(4) {
                word.copy_from_slice(&0x2000_0000u32.to_le_bytes()); // three times it, by 2^30, is 1, less 1 is 0
            }
        }
        self.requests.push(out.len());
        Ok(())
    }
}

/// A g without an inverse is drawn again.
fn redrawn<P: Params>() {
    let mut rng = NoInverse { inner: seeded(5), requests: Vec::new() };
    whole_key(&generate_key::<P>(&mut rng).unwrap());
    assert_eq!(rng.requests, [4 * P::P, 4 * P::P, 4 * P::P, P::P.div_ceil(4)]);
}

#[test]
fn elements_without_an_inverse_are_drawn_again() {
    redrawn::<Sntrup653>();
    redrawn::<Sntrup761>();
    redrawn::<Sntrup857>();
}

/// More keys than share an inversion: several batches, all keys different and whole.
#[test]
fn more_keys_than_a_batch_holds() {
    let pairs = batch::<Sntrup653>(sntrup_core::MAX_BATCH + 1, 9);
    assert_eq!(pairs.len(), sntrup_core::MAX_BATCH + 1);
    assert_eq!(pairs.iter().map(|pair| pair.public().as_bytes()).collect::<HashSet<_>>().len(), pairs.len());
    for i in [0, 511, 1023, 1024] {
        whole_key(&pairs[i]);
    }
}

/// A number of keys for which no memory exists is refused, not attempted.
#[test]
fn an_absurd_count_is_an_error() {
    let error = generate_batch::<Sntrup761>(NonZeroUsize::MAX, &mut seeded(1)).unwrap_err();
    assert!(matches!(error, sntrup_core::Error::Memory { .. }), "{error}");
}
