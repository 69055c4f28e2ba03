//! Product in R/3 (specification, "R3"): see the file `toeplitz` for the method.

use super::toeplitz;
use crate::backend::values::debug_assert_ternary;
use crate::fq::mod3;
use crate::params::Params;

pub(super) fn mul_r3<P: Params>(h: &mut P::Coeffs, a: &P::Coeffs, b: &P::Coeffs) {
    // A row sums p products of a ternary number and one of at most 2 in size.
    const { assert!(2 * P::P < 1 << 14) };
    debug_assert_ternary::<P>(a);
    debug_assert_ternary::<P>(b);
    toeplitz::product::<P>(h, a, b, |x| x, |a, b| mod3(toeplitz::dot(a, b) as i16));
    debug_assert_ternary::<P>(h);
}
