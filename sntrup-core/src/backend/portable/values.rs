//! Coefficient-wise kernels: rounding, 3a modulo q modulo 3, and the weight (specification, Encrypt and Decrypt).

use crate::ct;
use crate::fq::{Fq, mod3};
use crate::params::Params;
use crate::wipe::Array;

pub(super) fn round<P: Params>(a: &mut P::Coeffs) {
    debug_assert_canonical::<P>(a);
    // (q-1)/2 is a multiple of 3, so rounding stays in the range.
    for x in &mut a.as_mut_slice()[..P::P] {
        *x -= mod3(*x);
    }
    debug_assert_canonical::<P>(a);
}

pub(super) fn triple_mod3<P: Params>(e: &mut P::Coeffs, a: &P::Coeffs) {
    debug_assert_canonical::<P>(a);
    for (e, &a) in e.as_mut_slice().iter_mut().zip(a.as_slice()) {
        *e = mod3(Fq::<P>::freeze(3 * i32::from(a)));
    }
    debug_assert_ternary::<P>(e);
}

pub(super) fn weight_is_w<P: Params>(a: &P::Coeffs) -> u32 {
    debug_assert_ternary::<P>(a);
    let weight = a.as_slice().iter().fold(0, |sum: i16, &x| sum + (x & 1));
    ct::is_zero(weight as u32 ^ P::W as u32)
}

/// Asserts, in debug builds, that `a` is canonical and its padding zero.
pub(super) fn debug_assert_canonical<P: Params>(a: &P::Coeffs) {
    debug_assert!(bounded::<P>(a, Fq::<P>::HALF), "a coefficient is not canonical, or the padding is not zero");
}

/// Asserts, in debug builds, that `a` is ternary and its padding zero.
pub(super) fn debug_assert_ternary<P: Params>(a: &P::Coeffs) {
    debug_assert!(bounded::<P>(a, 1), "a coefficient is not in {{-1, 0, 1}}, or the padding is not zero");
}

fn bounded<P: Params>(a: &P::Coeffs, bound: i16) -> bool {
    let (value, padding) = a.as_slice().split_at(P::P);
    value.iter().all(|x| (-bound..=bound).contains(x)) && padding.iter().all(|&x| x == 0)
}
