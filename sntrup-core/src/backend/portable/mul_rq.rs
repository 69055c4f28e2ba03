//! Product in R/q (specification, "Rq"): see the file `toeplitz` for the method.

use super::toeplitz;
use crate::backend::values::debug_assert_canonical;
use crate::fq::Fq;
use crate::params::Params;

/// Terms that are summed in 32 bits before a reduction.
const CHUNK: usize = 256;

pub(super) fn mul_rq<P: Params>(h: &mut P::Coeffs, a: &P::Coeffs, b: &P::Coeffs) {
    // Both factors are at most (q-1)/2 in size.
    const { assert!((CHUNK as i64) * (Fq::<P>::HALF as i64) * (Fq::<P>::HALF as i64) < 1 << 31) };
    debug_assert_canonical::<P>(a);
    debug_assert_canonical::<P>(b);
    let dot = |a: &[i16], b: &[i16]| {
        let chunks = a.chunks(CHUNK).zip(b.chunks(CHUNK));
        let sum = chunks.map(|(a, b)| i32::from(Fq::<P>::freeze(toeplitz::dot(a, b)))).sum();
        Fq::<P>::freeze(sum)
    };
    toeplitz::product::<P>(h, a, b, |x| Fq::<P>::freeze(i32::from(x)), dot);
    debug_assert_canonical::<P>(h);
}
