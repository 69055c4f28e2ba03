//! The weight of a small element (specification, Decrypt), and the ranges of elements for assertions.

use super::words::{U16x16, portable};
#[cfg(target_arch = "x86_64")]
use super::{entry::avx2_kernel, lanes::Avx2, words::avx2};
use crate::ct;
use crate::fq::Fq;
use crate::params::Params;
use crate::wipe::Array;

/// All ones if exactly w coefficients, which are in {-1, 0, 1}, are not 0, else zero.
pub(crate) fn weight_is_w_portable<P: Params>(a: &P::Coeffs) -> u32 {
    weight_is_w::<P, portable::Words16>((), a)
}

#[cfg(target_arch = "x86_64")]
avx2_kernel! {
    /// [`weight_is_w_portable`] with AVX2.
    pub(crate) fn weight_is_w_avx2<P: Params>(token: Avx2, a: &P::Coeffs) -> u32 {
        weight_is_w::<P, avx2::Words16>(token, a)
    }
}

#[inline(always)]
fn weight_is_w<P: Params, V: U16x16>(token: V::Token, a: &P::Coeffs) -> u32 {
    debug_assert_ternary::<P>(a);
    let one = V::splat(token, 1);
    let mut sums = V::splat(token, 0);
    for row in a.as_slice().as_chunks().0 {
        sums = sums.add(V::load_signed(token, row).and(one));
    }
    let mut lanes = [0; 16];
    sums.store(&mut lanes);
    ct::is_zero(lanes.iter().fold(0, |sum, &lane| sum + u32::from(lane)) ^ P::W as u32)
}

/// Asserts, in debug builds, that `a` is canonical and its padding zero.
pub(crate) fn debug_assert_canonical<P: Params>(a: &P::Coeffs) {
    debug_assert!(bounded::<P>(a, Fq::<P>::HALF), "a coefficient is not canonical, or the padding is not zero");
}

/// Asserts, in debug builds, that `a` is ternary and its padding zero.
pub(crate) fn debug_assert_ternary<P: Params>(a: &P::Coeffs) {
    debug_assert!(bounded::<P>(a, 1), "a coefficient is not in {{-1, 0, 1}}, or the padding is not zero");
}

fn bounded<P: Params>(a: &P::Coeffs, bound: i16) -> bool {
    let (value, padding) = a.as_slice().split_at(P::P);
    value.iter().all(|x| (-bound..=bound).contains(x)) && padding.iter().all(|&x| x == 0)
}
