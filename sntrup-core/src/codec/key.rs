//! The secret key as a string: Small(f), Small(1/g), the public key, rho, Hash_4(public key).

use super::{radix, small};
use crate::backend::Kernels;
use crate::hash::{self, Hash, hash_into};
use crate::keys::{KeyPair, PublicKey, SecretKey};
use crate::params::{HASH_BYTES, Params};
use crate::ring::{R3, Rq, Short};
use crate::wipe::Array;

/// The parts of a secret key.
pub(crate) struct Parts<'a> {
    pub(crate) f: &'a [u8],
    pub(crate) g_recip: &'a [u8],
    pub(crate) public_key: &'a [u8],
    pub(crate) rho: &'a [u8],
    pub(crate) public_key_hash: &'a Hash,
}

/// Cuts a secret key of `SECRET_KEY_BYTES` bytes into its parts.
pub(crate) fn split<P: Params>(s: &[u8]) -> Parts<'_> {
    let n = P::SmallBytes::LEN;
    let (f, s) = s.split_at(n);
    let (g_recip, s) = s.split_at(n);
    let (public_key, s) = s.split_at(P::PUBLIC_KEY_BYTES);
    let (rho, public_key_hash) = s.split_at(n);
    Parts { f, g_recip, public_key, rho, public_key_hash: public_key_hash.try_into().expect("32 bytes are left") }
}

/// The key pair of f, 1/g, h = g/(3f) and rho, but for the hash of the public key: see [`hash_public_keys`].
pub(crate) fn assemble<P: Params>(f: &Short<P>, g_recip: &R3<P>, h: &Rq<P>, rho: &[u8], k: impl Kernels) -> KeyPair<P> {
    let public = PublicKey::<P>::build(|out| radix::encode_rq(h, out, k));
    let secret = SecretKey::<P>::build(|out| {
        let n = P::SmallBytes::LEN;
        let (f_bytes, out) = out.split_at_mut(n);
        let (g_bytes, out) = out.split_at_mut(n);
        let (public_bytes, out) = out.split_at_mut(P::PUBLIC_KEY_BYTES);
        let (rho_bytes, _) = out.split_at_mut(n);
        small::encode::<P>(f.coeffs(), f_bytes, k);
        small::encode::<P>(g_recip.coeffs(), g_bytes, k);
        public_bytes.copy_from_slice(public.as_bytes());
        rho_bytes.copy_from_slice(rho);
    });
    KeyPair::new(public, secret)
}

/// Puts Hash_4(public key) into its place at the end of each secret key.
pub(crate) fn hash_public_keys<P: Params>(pairs: &mut [KeyPair<P>], k: impl Kernels) {
    let (fours, rest) = pairs.as_chunks_mut();
    for four in fours {
        let hashes = hash::hash_public_keys(four.each_ref().map(|pair| pair.public().as_bytes()), k);
        for (pair, hash) in four.iter_mut().zip(hashes) {
            *pair.public_key_hash_mut() = hash;
        }
    }
    for pair in rest {
        let mut hash = [0; HASH_BYTES];
        hash_into(hash::PUBLIC_KEY, [pair.public().as_bytes(), &[]], &mut hash, k);
        *pair.public_key_hash_mut() = hash;
    }
}
