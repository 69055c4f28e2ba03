//! Public keys and ciphertexts as strings: the mixed-radix encoding of R/q and of rounded elements.

use crate::backend::Kernels;
use crate::params::Params;
use crate::ring::{Rounded, Rq};

/// Writes `h` into `out`, `PUBLIC_KEY_BYTES` bytes.
pub(crate) fn encode_rq<P: Params>(h: &Rq<P>, out: &mut [u8], k: impl Kernels) {
    k.encode_rq::<P>(out, h.coeffs());
}

/// Reads an element from `PUBLIC_KEY_BYTES` bytes; any string is one.
pub(crate) fn decode_rq<P: Params>(s: &[u8], k: impl Kernels) -> Rq<P> {
    Rq::build(|h| k.decode_rq::<P>(h, s))
}

/// Writes `c` into `out`, `CIPHERTEXT_BYTES` - 32 bytes.
pub(crate) fn encode_rounded<P: Params>(c: &Rounded<P>, out: &mut [u8], k: impl Kernels) {
    k.encode_rounded::<P>(out, c.coeffs());
}

/// Reads an element from `CIPHERTEXT_BYTES` - 32 bytes; any string is one.
pub(crate) fn decode_rounded<P: Params>(s: &[u8], k: impl Kernels) -> Rounded<P> {
    Rounded::build(|c| k.decode_rounded::<P>(c, s))
}
