//! Reciprocal in R/q by constant-time division steps (Bernstein and Yang, "Fast constant-time gcd computation and
//! modular inversion", 2019, sections 5 to 7).
//!
//! Start with f = x^p - x - 1 and g = a, both with their coefficients reversed, and delta = 1. A step replaces (f, g) by
//! (g, (g_0 f - f_0 g)/x) and negates delta when delta > 0 and g_0 is not 0, else it replaces g by (f_0 g - g_0 f)/x;
//! then delta grows by 1. After 2p - 1 steps f is a constant, and the cofactor v of f, which followed the same steps
//! with multiplications by x instead of divisions, holds f/a, reversed.
//!
//! Departure: a common factor of (g, r) is a factor of all that follows from them, so signs are not corrected and the
//! 2^-16 of Montgomery products stays in; the last division by f removes both from v.

use crate::backend::values::debug_assert_canonical;
use crate::fq::Fq;
use crate::params::Params;
use crate::wipe::{Array, Secret};

/// Largest size of a working coefficient: with both multipliers canonical, a step gives at most
/// 2 (q + |x| q / 2^16) / 2 = q + |x| q / 2^16, which the bound 9q/8 keeps below itself as q / 2^16 < 1/9.
const fn bound<P: Params>() -> i16 {
    P::Q + (P::Q >> 3)
}

pub(super) fn recip_rq<P: Params>(out: &mut P::Coeffs, a: &P::Coeffs) {
    const { assert!(9 * (P::Q as i32) < 1 << 16) };
    debug_assert_canonical::<P>(a);
    let p = P::P;
    let [mut f, mut g, mut v, mut r] = [(); 4].map(|()| Secret::<P::Coeffs>::zeroed());
    let (f, g, v, r) = (f.as_mut_slice(), g.as_mut_slice(), v.as_mut_slice(), r.as_mut_slice());
    (f[0], f[p - 1], f[p]) = (1, -1, -1);
    for (i, g) in g[..p].iter_mut().enumerate() {
        *g = a.as_slice()[p - 1 - i];
    }
    let [mut f_factor, mut g_factor] = [(); 2].map(|()| Secret::<P::Coeffs>::zeroed());
    // v and r are stored from the power x^p down, so that both pairs shift to the left.
    r[p] = 1;
    let mut delta = 1i32;
    for step in 0..2 * p - 1 {
        let f0 = Fq::<P>::freeze(i32::from(f[0]));
        let g0 = Fq::<P>::freeze(i32::from(g[0]));
        // All ones if delta > 0 and g_0 is not 0, computed from sign bits.
        let swap = std::hint::black_box((-delta >> 31) & i32::from((g0 | -g0) >> 15));
        delta = (delta ^ (swap & (delta ^ -delta))) + 1;
        let (f0, g0) = (multiplier::<P>(f0, &mut f_factor), multiplier::<P>(g0, &mut g_factor));
        // The remaining steps see this many coefficients of f and g; v and r have grown to degree `step` at most.
        shift_fg::<P>(f, g, p.min(2 * p - 2 - step) + 1, f0, g0, swap as i16);
        shift_vr::<P>(v, r, p.saturating_sub(step), f0, g0, swap as i16);
        debug_assert!(largest(g).max(largest(r)) <= bound::<P>());
    }
    let scale = Fq::<P>::reciprocal(Fq::<P>::freeze(i32::from(f[0])));
    let out = out.as_mut_slice();
    for (out, &v) in out[..p].iter_mut().zip(&v[1..]) {
        *out = Fq::<P>::freeze(i32::from(scale) * i32::from(v));
    }
    out[p..].fill(0);
}

/// A Montgomery multiplier: its value once for each coefficient, and its companion.
///
/// A product of two vectors from memory compiles to one instruction for its high half; with a scalar factor, the
/// compiler widens the scalar and with it the whole product.
type Multiplier<'a> = (&'a [i16], i16);

fn multiplier<P: Params>(c: i16, space: &mut Secret<P::Coeffs>) -> Multiplier<'_> {
    let (value, companion) = Fq::<P>::montgomery(c);
    space.as_mut_slice().fill(value);
    (space.as_slice(), companion)
}

/// Largest size of a coefficient.
fn largest(a: &[i16]) -> i16 {
    a.iter().fold(0, |largest, x| largest.max(x.wrapping_abs()))
}

/// g = (f_0 g - g_0 f) / x, and f = g for the old g under the mask; the first `len` coefficients.
#[inline(never)]
fn shift_fg<P: Params>(f: &mut [i16], g: &mut [i16], len: usize, f0: Multiplier, g0: Multiplier, swap: i16) {
    assert!(f.len() > len && g.len() > len && f0.0.len() >= len && g0.0.len() >= len);
    for i in 0..len {
        let left = Fq::<P>::mul_montgomery(g[i + 1], (f0.0[i], f0.1));
        let right = Fq::<P>::mul_montgomery(f[i + 1], (g0.0[i], g0.1));
        f[i] ^= swap & (f[i] ^ g[i]);
        g[i] = left.wrapping_sub(right);
    }
}

/// v = x v; then r = f_0 r - g_0 v, and v = r for the old r under the mask; the powers from x^(p - `start`) down.
#[inline(never)]
fn shift_vr<P: Params>(v: &mut [i16], r: &mut [i16], start: usize, f0: Multiplier, g0: Multiplier, swap: i16) {
    let end = P::P + 1;
    assert!(v.len() > end && r.len() > end && f0.0.len() > end && g0.0.len() > end);
    for i in start..end {
        let shifted = v[i + 1];
        let left = Fq::<P>::mul_montgomery(r[i], (f0.0[i], f0.1));
        let right = Fq::<P>::mul_montgomery(shifted, (g0.0[i], g0.1));
        v[i] = shifted ^ (swap & (shifted ^ r[i]));
        r[i] = left.wrapping_sub(right);
    }
}
