//! Coefficient-wise kernels: rounding, 3a modulo q modulo 3, and the weight (specification, Encrypt and Decrypt).
//!
use super::words::{U16x16, portable};
#[cfg(target_arch = "x86_64")]
use super::{entry::avx2_kernel, lanes::Avx2, words::avx2};
use crate::ct;
use crate::fq::Fq;
use crate::params::Params;
use crate::wipe::Array;

/// Rounds canonical coefficients to the nearest multiples of 3; they stay canonical.
pub(crate) fn round_portable<P: Params>(a: &mut P::Coeffs) {
    round::<P, portable::Words16>((), a);
}

/// Takes 3 times canonical coefficients modulo q, canonical, and then modulo 3.
pub(crate) fn triple_mod3_portable<P: Params>(e: &mut P::Coeffs, a: &P::Coeffs) {
    triple_mod3::<P, portable::Words16>((), e, a);
}

/// All ones if exactly w coefficients, which are in {-1, 0, 1}, are not 0, else zero.
pub(crate) fn weight_is_w_portable<P: Params>(a: &P::Coeffs) -> u32 {
    weight_is_w::<P, portable::Words16>((), a)
}

#[cfg(target_arch = "x86_64")]
avx2_kernel! {
    /// [`round_portable`] with AVX2.
    pub(crate) fn round_avx2<P: Params>(token: Avx2, a: &mut P::Coeffs) {
        round::<P, avx2::Words16>(token, a);
    }
}

#[cfg(target_arch = "x86_64")]
avx2_kernel! {
    /// [`triple_mod3_portable`] with AVX2.
    pub(crate) fn triple_mod3_avx2<P: Params>(token: Avx2, e: &mut P::Coeffs, a: &P::Coeffs) {
        triple_mod3::<P, avx2::Words16>(token, e, a);
    }
}

#[cfg(target_arch = "x86_64")]
avx2_kernel! {
    /// [`weight_is_w_portable`] with AVX2.
    pub(crate) fn weight_is_w_avx2<P: Params>(token: Avx2, a: &P::Coeffs) -> u32 {
        weight_is_w::<P, avx2::Words16>(token, a)
    }
}

/// Representatives in {-1, 0, 1} modulo 3 of numbers x with |x| < 2^14.
///
/// 10923/2^15 exceeds 1/3 by 1/(3 * 2^15), so x/3 is estimated to within 1/6, the distance to where rounding changes.
#[inline(always)]
fn mod3<V: U16x16>(token: V::Token, x: V) -> V {
    let quotient = x.mulhrs(V::splat(token, 10923));
    x.sub(quotient.add(quotient).add(quotient))
}

#[inline(always)]
fn round<P: Params, V: U16x16>(token: V::Token, a: &mut P::Coeffs) {
    debug_assert_canonical::<P>(a);
    // (q-1)/2 is a multiple of 3, so rounding stays in the range.
    for row in a.as_mut_slice().as_chunks_mut().0 {
        let x = V::load_signed(token, row);
        x.sub(mod3(token, x)).store_signed(row);
    }
    debug_assert_canonical::<P>(a);
}

#[inline(always)]
fn triple_mod3<P: Params, V: U16x16>(token: V::Token, e: &mut P::Coeffs, a: &P::Coeffs) {
    debug_assert_canonical::<P>(a);
    let q = V::splat(token, P::Q.cast_unsigned());
    let half = V::splat(token, Fq::<P>::HALF.cast_unsigned());
    let minus_half = V::splat(token, (-Fq::<P>::HALF).cast_unsigned());
    for (e, a) in e.as_mut_slice().as_chunks_mut().0.iter_mut().zip(a.as_slice().as_chunks().0) {
        let a = V::load_signed(token, a);
        // |3a| < 3q/2 < 2^13: subtracting or adding q once makes it canonical.
        let triple = a.add(a).add(a);
        let above = q.and(triple.greater(half));
        let below = q.and(minus_half.greater(triple));
        mod3(token, triple.sub(above).add(below)).store_signed(e);
    }
    debug_assert_ternary::<P>(e);
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
