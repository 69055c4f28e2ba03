//! Hash_b (specification, section "Hash functions"): the first 32 bytes of SHA-512 of the byte b and the input.

use crate::backend::Kernels;
use crate::params::HASH_BYTES;
use crate::sha512::{Sha512, absorb_both, sha512_half_of_four};

/// A hash value.
pub(crate) type Hash = [u8; HASH_BYTES];

/// Prefix of a session key: `SESSION_REJECTED` for a forged ciphertext, `SESSION` for a good one. The choice between
/// them is secret, so this prefix is passed as a number.
pub(crate) const SESSION_REJECTED: u8 = 0;
/// See [`SESSION_REJECTED`].
pub(crate) const SESSION: u8 = 1;
/// Prefix of the confirmation that is part of a ciphertext.
pub(crate) const CONFIRM: u8 = 2;
/// Prefix of the hash of the plaintext r, or of rho in its place.
pub(crate) const INPUT: u8 = 3;
/// Prefix of the hash of a public key.
pub(crate) const PUBLIC_KEY: u8 = 4;

/// Prefix of the seed for blinding that is derived from rho; not one of the specification's.
pub(crate) const BLINDING: u8 = 5;

/// Hash_`prefix` of a string that comes in parts.
pub(crate) struct Hasher<K: Kernels>(Sha512<K>);

impl<K: Kernels> Hasher<K> {
    pub(crate) fn new(prefix: u8, k: K) -> Self {
        let mut hasher = Self(Sha512::new(k));
        hasher.absorb(&[prefix]);
        hasher
    }

    /// Appends a part.
    pub(crate) fn absorb(&mut self, part: &[u8]) {
        self.0.absorb(part);
    }

    /// Appends a part to each of two strings, side by side where the backend gains by it.
    pub(crate) fn absorb_both(hashers: [&mut Self; 2], parts: [&[u8]; 2]) {
        absorb_both(hashers.map(|hasher| &mut hasher.0), parts);
    }

    /// Writes the hash into `out`. It is the last use of the hasher.
    pub(crate) fn finish(&mut self, out: &mut Hash) {
        self.0.finish(out);
    }
}

/// Writes Hash_`prefix` of the parts, one after the other, into `out`.
pub(crate) fn hash_into(prefix: u8, parts: [&[u8]; 2], out: &mut Hash, k: impl Kernels) {
    let mut hasher = Hasher::new(prefix, k);
    parts.iter().for_each(|part| hasher.absorb(part));
    hasher.finish(out);
}

/// Hash_4 of four public keys, at about two thirds of what they cost one by one.
pub(crate) fn hash_public_keys(keys: [&[u8]; 4], k: impl Kernels) -> [Hash; 4] {
    sha512_half_of_four(PUBLIC_KEY, keys, k)
}
