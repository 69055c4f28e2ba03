//! Small elements as strings: four coefficients to a byte, each as its value plus 1 in two bits, low bits first.

use crate::fq::mod3;
use crate::params::Params;
use crate::ring::{R3, Rq};
use crate::wipe::Array;

/// Writes coefficients in {-1, 0, 1} into `out`. The last byte's spare bits are those of coefficients -1: zero.
pub(crate) fn encode<P: Params>(a: &P::Coeffs, out: &mut [u8]) {
    debug_assert_eq!(out.len(), P::SmallBytes::LEN);
    for (byte, four) in out.iter_mut().zip(a.as_slice()[..P::P].chunks(4)) {
        *byte = four.iter().rev().fold(0, |byte, &x| byte << 2 | (x + 1) as u8);
    }
}

/// Reads coefficients as they stand in the string. A string that no encoder made may hold the value 2.
fn decode_into<P: Params>(s: &[u8], out: &mut P::Coeffs, map: impl Fn(i16) -> i16) {
    debug_assert_eq!(s.len(), P::SmallBytes::LEN);
    for (four, &byte) in out.as_mut_slice()[..P::P].chunks_mut(4).zip(s) {
        for (i, x) in four.iter_mut().enumerate() {
            *x = map(i16::from(byte >> (2 * i) & 3) - 1);
        }
    }
}

/// Reads an element of R/q; a 2 in the string is a 2.
pub(crate) fn decode_rq<P: Params>(s: &[u8]) -> Rq<P> {
    Rq::build(|out| decode_into::<P>(s, out, |x| x))
}

/// Reads an element of R/3; a 2 in the string is a -1.
pub(crate) fn decode_r3<P: Params>(s: &[u8]) -> R3<P> {
    R3::build(|out| decode_into::<P>(s, out, mod3))
}
