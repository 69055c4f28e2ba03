//! Small elements as strings: four coefficients to a byte, each as its value plus 1 in two bits, low bits first.

use crate::backend::Kernels;
use crate::params::Params;
use crate::ring::{R3, Rq};

/// Writes coefficients in {-1, 0, 1} into `out`. The last byte's spare bits are those of coefficients -1: zero.
pub(crate) fn encode<P: Params>(a: &P::Coeffs, out: &mut [u8], k: impl Kernels) {
    k.encode_small::<P>(out, a);
}

/// Reads an element of R/q; a 2, which no encoder makes, is a 2.
pub(crate) fn decode_rq<P: Params>(s: &[u8], k: impl Kernels) -> Rq<P> {
    Rq::build(|out| k.decode_small::<P>(out, s, 2))
}

/// Reads an element of R/3; a 2, which no encoder makes, is a -1.
pub(crate) fn decode_r3<P: Params>(s: &[u8], k: impl Kernels) -> R3<P> {
    R3::build(|out| k.decode_small::<P>(out, s, -1))
}
