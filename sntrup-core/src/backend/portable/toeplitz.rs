//! Products modulo x^p - x - 1 as one dot product for each coefficient.
//!
//! With c = a * b as polynomials, x^p = x + 1 gives h_k = c_k + c_{k+p} + c_{k+p-1} for k >= 1 and h_0 = c_0 + c_p.
//! So for k >= 1, h_k = sum_i a_i e_{k-i} with one sequence e: e_j = b_j for j >= 1, e_0 = b_0 + b_{p-1}, and
//! e_j = b_{j+p} + b_{j+p-1} for j < 0. Only row 0 differs: e_0 = b_0 and e_j = b_{j+p}. Stored backwards, e gives each
//! row as a contiguous window, and nothing has to be folded afterwards.

use crate::params::Params;
use crate::wipe::{Array, Secret};

/// Applies `reduce` to the sums e_j of two coefficients, and `dot` to `a` and to each row's window, of the same length.
pub(super) fn product<P: Params>(
    h: &mut P::Coeffs,
    a: &P::Coeffs,
    b: &P::Coeffs,
    reduce: impl Fn(i16) -> i16,
    dot: impl Fn(&[i16], &[i16]) -> i16,
) {
    let (h, a, b, p) = (h.as_mut_slice(), a.as_slice(), b.as_slice(), P::P);
    let mut rows = Secret::<P::Double>::zeroed();
    let rows = rows.as_mut_slice();
    // rows[t] = e_{p-1-t}
    for t in 0..p - 1 {
        rows[t] = b[p - 1 - t];
    }
    rows[p - 1] = reduce(b[0] + b[p - 1]);
    for t in p..2 * p - 1 {
        rows[t] = reduce(b[2 * p - 1 - t] + b[2 * p - 2 - t]);
    }
    for k in 1..p {
        h[k] = dot(a, &rows[p - 1 - k..][..P::Coeffs::LEN]);
    }
    rows[p - 1] = b[0];
    for t in p..2 * p - 1 {
        rows[t] = b[2 * p - 1 - t];
    }
    h[0] = dot(a, &rows[p - 1..][..P::Coeffs::LEN]);
    h[p..].fill(0);
}

/// The sum of a_i * b_i modulo 2^32; the callers' bounds keep it exact.
#[inline(always)]
pub(super) fn dot(a: &[i16], b: &[i16]) -> i32 {
    a.iter().zip(b).fold(0, |sum, (&x, &y)| sum.wrapping_add(i32::from(x) * i32::from(y)))
}
