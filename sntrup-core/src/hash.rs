//! Hash_b (specification, section "Hash functions"): the first 32 bytes of SHA-512 of the byte b and the input.

use zeroize::Zeroize;

use crate::backend::Kernels;
use crate::params::HASH_BYTES;
use crate::sha512::{sha512, sha512_half_of_four};

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

/// Writes Hash_`prefix` of the parts, one after the other, into `out`.
pub(crate) fn hash_into(prefix: u8, parts: [&[u8]; 2], out: &mut Hash, k: impl Kernels) {
    let mut full = [0; 64];
    sha512(&[&[prefix], parts[0], parts[1]], &mut full, k);
    out.copy_from_slice(&full[..HASH_BYTES]);
    full.as_mut_slice().zeroize();
}

/// Hash_4 of four public keys, at about two thirds of what they cost one by one.
pub(crate) fn hash_public_keys(keys: [&[u8]; 4], k: impl Kernels) -> [Hash; 4] {
    sha512_half_of_four(PUBLIC_KEY, keys, k)
}
