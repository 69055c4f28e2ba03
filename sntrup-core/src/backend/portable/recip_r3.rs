//! Reciprocal in R/3 by the same division steps as in the file `recip_rq`, on bit planes: 64 coefficients to a word.
//!
//! Modulo 3, f_0 is its own reciprocal, so a step is g = (g - f_0 g_0 f)/x after the conditional swap. Without units
//! corrected as there, the swapped step may use the same formula. `a` has an inverse if and only if delta ends at 0.

use crate::backend::values::debug_assert_ternary;
use crate::ct;
use crate::params::Params;
use crate::wipe::Array;
use zeroize::Zeroize;

/// Words for p + 1 coefficients of the largest set.
const WORDS: usize = 14;

/// Coefficients modulo 3: a bit in `plus` for 1, in `minus` for -1.
#[derive(Clone, Copy)]
struct Planes {
    plus: [u64; WORDS],
    minus: [u64; WORDS],
}

impl Planes {
    const ZERO: Self = Self { plus: [0; WORDS], minus: [0; WORDS] };

    /// Sets coefficient `i`, so far 0, to `value` in {-1, 0, 1}.
    fn set(&mut self, i: usize, value: i16) {
        self.plus[i >> 6] |= u64::from((value & !(value >> 15)) as u16) << (i & 63);
        self.minus[i >> 6] |= u64::from((value >> 15 & 1) as u16) << (i & 63);
    }

    /// Coefficient `i`.
    fn get(&self, i: usize) -> i16 {
        (self.plus[i >> 6] >> (i & 63) & 1) as i16 - (self.minus[i >> 6] >> (i & 63) & 1) as i16
    }
}

impl Drop for Wiped {
    fn drop(&mut self) {
        for planes in &mut self.0 {
            planes.plus.zeroize();
            planes.minus.zeroize();
        }
    }
}

/// The four working polynomials, wiped when dropped.
struct Wiped([Planes; 4]);

/// x + y modulo 3 in each bit position, for (plus, minus) pairs: seven operations found from the nine-line table.
#[inline(always)]
const fn add(x: (u64, u64), y: (u64, u64)) -> (u64, u64) {
    let t = (x.0 | y.1) ^ (x.1 | y.0);
    ((x.1 | y.1) ^ t, (x.0 | y.0) ^ t)
}

/// x times the scalar whose masks for 1 and for -1 are given.
#[inline(always)]
const fn scale(x: (u64, u64), plus: u64, minus: u64) -> (u64, u64) {
    ((x.0 & plus) | (x.1 & minus), (x.1 & plus) | (x.0 & minus))
}

pub(super) fn recip_r3<P: Params>(out: &mut P::Coeffs, a: &P::Coeffs) -> u32 {
    const { assert!(P::P < 64 * WORDS) };
    debug_assert_ternary::<P>(a);
    let p = P::P;
    let mut state = Wiped([Planes::ZERO; 4]);
    let [f, g, v, r] = &mut state.0;
    f.set(0, 1);
    f.set(p - 1, -1);
    f.set(p, -1);
    for i in 0..p {
        g.set(i, a.as_slice()[p - 1 - i]);
    }
    r.set(0, 1);
    let mut delta = 1i32;
    for _ in 0..2 * p - 1 {
        shift_left(v);
        let (f0, g0) = (f.get(0), g.get(0));
        // All ones if delta > 0 and g_0 is not 0.
        let swap = std::hint::black_box((-delta >> 31) & -i32::from(g0 & 1));
        delta = (delta ^ (swap & (delta ^ -delta))) + 1;
        // Subtracting f_0 g_0 f is adding it times -f_0 g_0.
        let factor = i64::from(-f0 * g0);
        let minus = std::hint::black_box((factor >> 63) as u64);
        let plus = std::hint::black_box((-factor >> 63) as u64);
        eliminate(f, g, plus, minus, swap as i64 as u64);
        eliminate(v, r, plus, minus, swap as i64 as u64);
        shift_right(g);
    }
    let f0 = f.get(0);
    let out = out.as_mut_slice();
    for (i, out) in out[..p].iter_mut().enumerate() {
        *out = f0 * v.get(p - 1 - i);
    }
    out[p..].fill(0);
    ct::is_zero(delta as u32)
}

/// g = g + factor * f, and f = g for the old g under the mask.
#[inline(always)]
fn eliminate(f: &mut Planes, g: &mut Planes, plus: u64, minus: u64, swap: u64) {
    for i in 0..WORDS {
        let (x, y) = ((f.plus[i], f.minus[i]), (g.plus[i], g.minus[i]));
        (g.plus[i], g.minus[i]) = add(y, scale(x, plus, minus));
        f.plus[i] = x.0 ^ (swap & (x.0 ^ y.0));
        f.minus[i] = x.1 ^ (swap & (x.1 ^ y.1));
    }
}

/// Multiplies by x.
#[inline(always)]
fn shift_left(a: &mut Planes) {
    for plane in [&mut a.plus, &mut a.minus] {
        for i in (1..WORDS).rev() {
            plane[i] = plane[i] << 1 | plane[i - 1] >> 63;
        }
        plane[0] <<= 1;
    }
}

/// Divides by x; coefficient 0 is 0.
#[inline(always)]
fn shift_right(a: &mut Planes) {
    for plane in [&mut a.plus, &mut a.minus] {
        for i in 0..WORDS - 1 {
            plane[i] = plane[i] >> 1 | plane[i + 1] << 63;
        }
        plane[WORDS - 1] >>= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_plane_arithmetic_is_arithmetic_modulo_3() {
        let pair = |x: i32| (u64::from(x == 1), u64::from(x == -1));
        let centre = |x: i32| (x + 4).rem_euclid(3) - 1;
        for x in -1..=1 {
            for y in -1..=1 {
                assert_eq!(add(pair(x), pair(y)), pair(centre(x + y)));
                let mask = |bit: bool| if bit { u64::MAX } else { 0 };
                assert_eq!(scale(pair(x), mask(y == 1), mask(y == -1)), pair(x * y));
            }
        }
    }
}
