//! Reciprocals in R/3 by constant-time division steps (Bernstein and Yang, "Fast constant-time gcd computation and
//! modular inversion", 2019), on bit planes.
//!
//! Start with f = x^p - x - 1 and g = a, both with their coefficients reversed, δ = 1, v = 0 and r = 1. A step multiplies
//! v by x; exchanges (f, v) and (g, r) if δ > 0 and g_0 ≠ 0, then also negating δ; subtracts f_0·g_0 times (f, v) from
//! (g, r); divides g by x; and adds one to δ. After 2p - 1 steps f is a constant, a has a reciprocal if and only if
//! δ = 0, and the reciprocal is v/f, reversed.
//!
//! Departure: what is subtracted after an exchange differs by a sign from the paper's, for g and r alike. A sign of
//! (g, r), like one of (f, v), is taken out by the last division.
//!
//! Coefficient i of a polynomial is bit ⌊i/N⌋ of string i mod N, with N strings of 256 bits. A multiplication or
//! division by x moves whole strings but for one of them.
#![allow(
    clippy::integer_division,
    clippy::integer_division_remainder_used,
    clippy::modulo_arithmetic,
    reason = "arithmetic on public constants, at compile time"
)]

use super::lanes::{Bits, Kernel, V16};
use super::transform::{Row, Transform};
use crate::ct;
use core::marker::PhantomData;

/// Bits of a string.
const BITS: usize = 256;

/// 1/a in R/3. Returns all ones if `a` has a reciprocal, else zero, and then `out` is of no use. Constant time.
pub(crate) struct ReciprocalTernary<'a, T> {
    /// `CHUNKS` rows of -1, 0, 1; zero from p on.
    pub(crate) a: &'a [Row],
    /// As `a`.
    pub(crate) out: &'a mut [Row],
    pub(crate) set: PhantomData<T>,
}

impl<T: Transform> Kernel for ReciprocalTernary<'_, T> {
    type Output = u32;
    const LOGIC: bool = true;

    #[inline(always)]
    fn run<V: V16>(self, token: V::Token) -> u32 {
        let (a, out) = (self.a.as_flattened(), self.out.as_flattened_mut());
        if T::P < 3 * BITS {
            reciprocal::<T, 3, V::Bits>(token, a, out)
        } else {
            const { assert!(T::P < 4 * BITS) };
            reciprocal::<T, 4, V::Bits>(token, a, out)
        }
    }
}

/// A polynomial: the bit in `one` is set for 1 and -1, the bit in `minus` for -1 alone.
#[derive(Clone, Copy)]
struct Planes<B, const N: usize> {
    one: [B; N],
    minus: [B; N],
}

/// The words of a plane.
type Words<const N: usize> = [[u64; 4]; N];

impl<B: Bits, const N: usize> Planes<B, N> {
    #[inline(always)]
    fn constant(token: B::Token, bit: u64) -> Self {
        let zero = B::splat(token, 0);
        let mut planes = Self { one: [zero; N], minus: [zero; N] };
        planes.one[0] = B::load(token, &[bit, 0, 0, 0]);
        planes
    }

    /// The polynomial with these coefficients, the first at x⁰.
    #[inline(always)]
    fn pack(token: B::Token, coefficients: impl Iterator<Item = i16>) -> Self {
        let (mut one, mut minus): (Words<N>, Words<N>) = ([[0; 4]; N], [[0; 4]; N]);
        let (mut string, mut bit) = (0, 0);
        for x in coefficients {
            one[string][bit & 3] |= u64::from(x as u16 & 1) << (bit >> 2);
            minus[string][bit & 3] |= u64::from(x as u16 >> 15) << (bit >> 2);
            string += 1;
            if string == N {
                (string, bit) = (0, bit + 1);
            }
        }
        let mut planes = Self::constant(token, 0);
        for i in 0..N {
            planes.one[i] = B::load(token, &one[i]);
            planes.minus[i] = B::load(token, &minus[i]);
        }
        wipe(&mut [one, minus]);
        planes
    }

    /// Writes the coefficients, the first to the place that the iterator yields first, times `sign`.
    #[inline(always)]
    fn unpack<'a>(self, sign: i16, places: impl Iterator<Item = &'a mut i16>) {
        let (mut one, mut minus): (Words<N>, Words<N>) = ([[0; 4]; N], [[0; 4]; N]);
        for i in 0..N {
            self.one[i].store(&mut one[i]);
            self.minus[i].store(&mut minus[i]);
        }
        let (mut string, mut bit) = (0, 0);
        for place in places {
            let one = (one[string][bit & 3] >> (bit >> 2) & 1) as i16;
            let minus = (minus[string][bit & 3] >> (bit >> 2) & 1) as i16;
            *place = sign * (one - 2 * minus);
            string += 1;
            if string == N {
                (string, bit) = (0, bit + 1);
            }
        }
        wipe(&mut [one, minus]);
    }

    /// Coefficient 0 as its two bits.
    #[inline(always)]
    fn lowest(&self) -> (u64, u64) {
        (self.one[0].first_word() & 1, self.minus[0].first_word() & 1)
    }

    /// Times x.
    #[inline(always)]
    fn up(&mut self) {
        let (one, minus) = (self.one[N - 1].up(), self.minus[N - 1].up());
        for i in (1..N).rev() {
            (self.one[i], self.minus[i]) = (self.one[i - 1], self.minus[i - 1]);
        }
        (self.one[0], self.minus[0]) = (one, minus);
    }

    /// Divided by x; coefficient 0 is zero.
    #[inline(always)]
    fn down(&mut self) {
        let (one, minus) = (self.one[0].down(), self.minus[0].down());
        for i in 1..N {
            (self.one[i - 1], self.minus[i - 1]) = (self.one[i], self.minus[i]);
        }
        (self.one[N - 1], self.minus[N - 1]) = (one, minus);
    }

    /// (self, other) becomes (other, other - c·self) under the mask `exchange`, else (self, other - c·self). -c is 0 where
    /// `nonzero` is zero, -1 where `minus` is all ones, else 1.
    #[inline(always)]
    fn step(&mut self, other: &mut Self, exchange: B, nonzero: B, minus: B) {
        for i in 0..N {
            let (x1, xm, y1, ym) = (self.one[i], self.minus[i], other.one[i], other.minus[i]);
            self.one[i] = x1.xor(x1.xor(y1).and(exchange));
            self.minus[i] = xm.xor(xm.xor(ym).and(exchange));
            // -c·self
            let z1 = x1.and(nonzero);
            let zm = xm.and(nonzero).xor(z1.and(minus));
            // The sum modulo 3, six operations found from its table.
            let (s, t) = (z1.xor(ym), zm.xor(y1));
            other.minus[i] = s.and(t);
            other.one[i] = z1.xor(y1).or(t.xor(ym));
        }
    }
}

/// Zeros over the words of secret planes.
fn wipe<const N: usize>(words: &mut [Words<N>; 2]) {
    words.as_flattened_mut().as_flattened_mut().fill(0);
    core::hint::black_box(&words);
}

/// The polynomials f, g, v, r.
type State<B, const N: usize> = (Planes<B, N>, Planes<B, N>, Planes<B, N>, Planes<B, N>);

/// One step. `opaque` is a zero that keeps the compiler from seeing that masks are 0 or -1.
#[inline(always)]
fn division_step<B: Bits, const N: usize>(
    token: B::Token,
    (f, g, v, r): &mut State<B, N>,
    delta: &mut i64,
    opaque: u64,
) {
    v.up();
    let ((_, f_minus), (nonzero, g_minus)) = (f.lowest(), g.lowest());
    // δ > 0 has the sign bit of -δ.
    let exchange = (delta.wrapping_neg().cast_unsigned() >> 63 & nonzero).wrapping_neg() | opaque;
    *delta = (*delta ^ exchange.cast_signed()) - exchange.cast_signed() + 1;
    let exchange = B::splat(token, exchange);
    // -f_0·g_0 is -1 if the signs agree.
    let nonzero = B::splat(token, nonzero.wrapping_neg() | opaque);
    let minus = B::splat(token, (f_minus ^ g_minus).wrapping_sub(1) | opaque);
    f.step(g, exchange, nonzero, minus);
    v.step(r, exchange, nonzero, minus);
    g.down();
}

#[inline(always)]
fn reciprocal<T: Transform, const N: usize, B: Bits>(token: B::Token, a: &[i16], out: &mut [i16]) -> u32 {
    let p = T::P;
    let modulus = (0..=p).map(|i| if i == 0 { 1 } else { -i16::from(i >= p - 1) });
    let f = Planes::<B, N>::pack(token, modulus);
    let g = Planes::<B, N>::pack(token, a[..p].iter().rev().copied());
    let v = Planes::<B, N>::constant(token, 0);
    let r = Planes::<B, N>::constant(token, 1);
    let mut delta = 1i64;
    let opaque = u64::from(ct::opaque_zero());
    let state = &mut (f, g, v, r);
    // N steps at a time: then every string is back in its place, and none has to be copied.
    for _ in 0..const { (2 * T::P - 1) / N } {
        division_step(token, state, &mut delta, opaque);
        division_step(token, state, &mut delta, opaque);
        division_step(token, state, &mut delta, opaque);
        if N == 4 {
            division_step(token, state, &mut delta, opaque);
        }
    }
    for _ in 0..const { (2 * T::P - 1) % N } {
        division_step(token, state, &mut delta, opaque);
    }
    let (f, _, v, _) = *state;
    let (_, minus) = f.lowest();
    v.unpack(1 - 2 * minus as i16, out[..p].iter_mut().rev());
    out[p..].fill(0);
    ct::is_zero(delta.unsigned_abs() as u32)
}

#[cfg(test)]
mod tests {
    use super::super::constants::center;
    use super::super::lanes::{Level, Oracle, Portable};
    use super::super::transform::cyclic::Ring653;
    use super::super::transform::phi7::Ring857;
    use super::super::transform::phi17::Ring761;
    use super::super::transform::tests::{Lcg, filled, random, schoolbook};
    use super::*;

    fn attempt<T: Transform>(level: impl Level, a: &[Row]) -> (u32, Vec<Row>) {
        let mut out = filled::<T>(|_| 9);
        (level.run(ReciprocalTernary::<T> { a, out: &mut out, set: PhantomData }), out)
    }

    fn reciprocals_are_right<T: Transform>(units: core::ops::RangeInclusive<usize>) {
        let mut rng = Lcg(1);
        let mut found = 0;
        for _ in 0..100 {
            let a = random::<T>(&mut rng, 1);
            let (flag, reciprocal) = attempt::<T>(Portable, &a);
            let oracle = attempt::<T>(Oracle, &a);
            assert!(oracle == (flag, reciprocal.clone()));
            #[cfg(target_arch = "x86_64")]
            {
                let avx2 = super::super::lanes::Avx2::detect().expect("this test needs a processor with AVX2");
                assert!(oracle == attempt::<T>(avx2, &a));
                assert!(oracle == attempt::<T>(avx2.without_avx512vl(), &a));
            }
            assert!(flag == 0 || flag == u32::MAX);
            if flag != 0 {
                found += 1;
                for (i, c) in schoolbook::<T>(&a, &reciprocal).iter().enumerate() {
                    assert_eq!(center(*c, 3), i64::from(i == 0), "coefficient {i}");
                }
                assert!(reciprocal.as_flattened()[T::P..].iter().all(|x| *x == 0));
            }
        }
        assert!(units.contains(&found), "{found} of 100 random elements are units");
        assert_eq!(attempt::<T>(Portable, &filled::<T>(|_| 0)).0, 0);
        for unit in [1, -1] {
            let one = filled::<T>(|i| if i == 0 { unit } else { 0 });
            assert!(attempt::<T>(Portable, &one) == (u32::MAX, one));
        }
    }

    #[test]
    fn reciprocals_modulo_3_are_right_and_alike() {
        // One element in 27 has the factor x^3 - x - 1 in sntrup653; the other sets have no factor of low degree.
        reciprocals_are_right::<Ring653>(85..=99);
        reciprocals_are_right::<Ring761>(100..=100);
        reciprocals_are_right::<Ring857>(100..=100);
    }
}
