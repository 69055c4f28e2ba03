//! Reciprocals in the field R/q by Euclid's algorithm. **Not constant time**: for blinded elements only.
//!
//! On (x^p - x - 1, f) each quotient of a random f has degree one with probability 1 - 1/q, so all p - 1 of them have
//! with probability about exp(-p/q), 85 %. The algorithm assumes it and gives up where a leading coefficient vanishes;
//! the caller then draws another blinding factor.
//!
//! Remainders are stored leading coefficient first, so that a step works at fixed positions: with f0, f1, g0, g1 the
//! leading coefficients of the last two remainders F and G, the quotient is a·X + b with a = f0/g0,
//! b = (f1 - a·g1)/g0, and the next remainder is H_k = F_{k+2} - a·G_{k+2} - b·G_{k+1}. Cofactors are stored from
//! X⁰ up: T_k = S0_k - a·S1_{k-1} - b·S1_k. As remainders shrink, cofactors grow: always about p coefficients a step.
#![allow(
    clippy::integer_division,
    clippy::integer_division_remainder_used,
    clippy::modulo_arithmetic,
    reason = "arithmetic on public constants, at compile time"
)]

use super::constants::*;
use super::lanes::{Chunk, Kernel, V16, flat_mut};
use super::transform::{Row, Transform};
use core::marker::PhantomData;
use core::mem::swap;

/// Zeros before the cofactors, which reach one coefficient back.
const BEFORE: usize = 16;
/// Chunks of each of the five arrays beyond those of a polynomial.
const EXTRA: usize = 3;

/// Constants of the scalar part.
pub(crate) trait Scalars: Transform {
    /// 2³²/q, rounded.
    const RECIPROCAL: i64 = ((1 << 32) + Self::Q as i64 / 2) / Self::Q as i64;
    /// Steps between reductions of the remainders and cofactors: as many as the bounds allow, an even number.
    const PERIOD: usize = longest_period::<Self>();
    /// The table of [`reciprocals`] of the field.
    fn reciprocals() -> &'static [[i16; 2]];
}

/// For every x in `-q..=q`, at x + q: 1/x and 2¹⁶/x modulo q, centered; zeros where x is zero modulo q.
pub(crate) const fn reciprocals<const N: usize>(q: i16) -> [[i16; 2]; N] {
    let ql = q as i64;
    assert!(N as i64 == 2 * ql + 1);
    // 1/x = -⌊q/x⌋ / (q mod x), and q mod x < x.
    let (mut table, mut x) = ([[0; 2]; N], 1);
    while x < ql {
        let inverse = if x == 1 { 1 } else { center(-(ql / x) * table[(ql + ql % x) as usize][0] as i64, ql) };
        let entry = [inverse as i16, montgomery(inverse, q)];
        table[(ql + x) as usize] = entry;
        table[(ql - x) as usize] = [-entry[0], -entry[1]];
        x += 1;
    }
    table
}

/// Largest coefficients after a step: what is replaced, and two products of the other array.
const fn grown<M: Modulus>(replaced: i32, other: i32) -> i32 {
    replaced + reduce_wide_bound::<M>(2, other, M::HALF)
}

/// The largest coefficient ever, when the last two of every `period` steps reduce.
const fn largest<M: Modulus>(period: usize) -> i32 {
    let (mut replaced, mut other, mut most, mut step) = (M::HALF, M::HALF, M::HALF, 0);
    // The reduced bounds settle within a few periods; 64 are plenty.
    while step < 64 * period {
        let new = grown::<M>(replaced, other);
        if new > most {
            most = new;
        }
        if most > i16::MAX as i32 {
            return most;
        }
        let new = if step % period >= period - 2 { bar_bound::<M>(new) } else { new };
        (replaced, other) = (other, new);
        step += 1;
    }
    most
}

const fn longest_period<M: Modulus>() -> usize {
    let mut period = 4;
    while largest::<M>(period + 2) <= i16::MAX as i32 {
        period += 2;
    }
    fits(largest::<M>(period));
    period
}

/// The representative of x near zero, |x| < 2²⁴: within q/2 and four more.
#[inline(always)]
fn near_zero<T: Scalars>(x: i32) -> i32 {
    let quotient = (i64::from(x) * T::RECIPROCAL + (1 << 31)) >> 32;
    x - quotient as i32 * i32::from(T::Q)
}

/// 1/(3·x) for a blinded x, whose value is no secret. Returns false, and no reciprocal, where a leading coefficient
/// vanishes: draw another blinding factor.
pub(crate) struct ReciprocalOfThree<'a, T> {
    /// `CHUNKS` rows, canonical.
    pub(crate) x: &'a [Row],
    /// `CHUNKS` rows, within `INPUT_BOUND`.
    pub(crate) out: &'a mut [Row],
    /// [`work_chunks`] chunks.
    pub(crate) work: &'a mut [Chunk],
    pub(crate) set: PhantomData<T>,
}

/// Chunks of scratch for [`ReciprocalOfThree`].
pub(crate) const fn work_chunks<T: Transform>() -> usize {
    5 * (T::CHUNKS + EXTRA)
}

/// The arrays. A step writes the next remainder to `h` and replaces `s0` by the next cofactor.
struct Arrays<'a> {
    f: &'a mut [i16],
    g: &'a mut [i16],
    h: &'a mut [i16],
    s0: &'a mut [i16],
    s1: &'a mut [i16],
}

/// `n` rows from lane `at` on.
#[inline(always)]
fn rows(from: &[i16], at: usize, n: usize) -> &[Row] {
    from[at..at + 16 * n].as_chunks().0
}

/// As [`rows`], to be written.
#[inline(always)]
fn rows_mut(to: &mut [i16], at: usize, n: usize) -> &mut [Row] {
    to[at..at + 16 * n].as_chunks_mut().0
}

impl Arrays<'_> {
    /// Vectors `from..to` of the next remainder.
    #[inline(always)]
    fn remainder<T: Scalars, const REDUCE: bool, V: V16>(
        &mut self,
        token: V::Token,
        from: usize,
        to: usize,
        quotient: V,
    ) {
        let (at, n) = (16 * from, to - from);
        let g = rows(self.g, at + 1, n).iter().zip(rows(self.g, at + 2, n));
        let f = rows(self.f, at + 2, n);
        for ((f, (g_before, g)), h) in f.iter().zip(g).zip(rows_mut(self.h, at, n)) {
            let even = V::load_at(token, g_before).madd(quotient);
            let odd = V::load_at(token, g).madd(quotient);
            let next = V::load_at(token, f).sub(reduce_wide::<T, V>(token, even, odd));
            let next = if REDUCE { bar::<T, V>(token, next) } else { next };
            next.store_at(h);
        }
    }

    /// Vectors `from..to` of the next cofactor; its quotient has the halves exchanged.
    #[inline(always)]
    fn cofactor<T: Scalars, const REDUCE: bool, V: V16>(
        &mut self,
        token: V::Token,
        from: usize,
        to: usize,
        quotient: V,
    ) {
        let (at, n) = (16 * from + BEFORE, to - from);
        let s1 = rows(self.s1, at - 1, n).iter().zip(rows(self.s1, at, n));
        for (s0, (s1_before, s1)) in rows_mut(self.s0, at, n).iter_mut().zip(s1) {
            let even = V::load_at(token, s1_before).madd(quotient);
            let odd = V::load_at(token, s1).madd(quotient);
            let next = V::load_at(token, s0).sub(reduce_wide::<T, V>(token, even, odd));
            let next = if REDUCE { bar::<T, V>(token, next) } else { next };
            next.store_at(s0);
        }
    }
}

/// The quotient of the step to come, and the leading coefficients that the one after it needs.
#[derive(Clone, Copy)]
struct Quotient {
    /// a·2¹⁶ and b·2¹⁶ modulo q.
    a: i32,
    b: i32,
    g0: i32,
    g1: i32,
}

/// One step. The scalars of the next quotient depend on the first vector only; they are computed before and between the
/// two loops, so that their latency passes while the vectors of the loops are computed.
#[inline(always)]
fn step<T: Scalars, const REDUCE: bool, V: V16>(
    token: V::Token,
    arrays: &mut Arrays<'_>,
    done: usize,
    q: Quotient,
) -> Option<Quotient> {
    let (a, b) = (q.a as i16, q.b as i16);
    let (remainder, cofactor) = (V::splat_pair(token, b, a), V::splat_pair(token, a, b));
    let (remainders, cofactors) = ((T::P - 1 - done).div_ceil(16), (done + 2).div_ceil(16));
    arrays.remainder::<T, REDUCE, V>(token, 0, 1, remainder);
    let (h0, h1) = (i32::from(arrays.h[0]), i32::from(arrays.h[1]));
    let h0 = near_zero::<T>(h0);
    let [inverse, scaled] = T::reciprocals()[(h0 + i32::from(T::Q)) as usize].map(i32::from);
    let a = near_zero::<T>(q.g0 * inverse);
    arrays.remainder::<T, REDUCE, V>(token, 1, remainders, remainder);
    let h1 = near_zero::<T>(h1);
    let b = near_zero::<T>(q.g1 - a * h1);
    let b = near_zero::<T>(b * scaled);
    let next = Quotient { a: near_zero::<T>(q.g0 * scaled), b, g0: h0, g1: h1 };
    arrays.cofactor::<T, REDUCE, V>(token, 0, cofactors, cofactor);
    // The array shrinks: what it held before must read as zero.
    rows_mut(arrays.h, 16 * remainders, 1)[0] = [0; 16];
    swap(&mut arrays.f, &mut arrays.g);
    swap(&mut arrays.g, &mut arrays.h);
    swap(&mut arrays.s0, &mut arrays.s1);
    (inverse != 0).then_some(next)
}

impl<T: Scalars> Kernel for ReciprocalOfThree<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<V: V16>(self, token: V::Token) -> bool {
        self.work.fill(Chunk::ZERO);
        let mut parts = self.work.chunks_exact_mut(T::CHUNKS + EXTRA).map(flat_mut);
        let (Some(f), Some(g), Some(h)) = (parts.next(), parts.next(), parts.next()) else {
            unreachable!("five arrays fit the work space")
        };
        let (Some(s0), Some(s1)) = (parts.next(), parts.next()) else { unreachable!("five arrays fit the work space") };
        let arrays = &mut Arrays { f, g, h, s0, s1 };
        (arrays.f[0], arrays.f[T::P - 1], arrays.f[T::P]) = (1, -1, -1);
        for (k, x) in self.x.as_flattened()[..T::P].iter().rev().enumerate() {
            arrays.g[k] = *x;
        }
        arrays.s1[BEFORE] = 1;

        let (g0, g1) = (i32::from(arrays.g[0]), i32::from(arrays.g[1]));
        let [inverse, scaled] = T::reciprocals()[(g0 + i32::from(T::Q)) as usize].map(i32::from);
        if inverse == 0 {
            return false;
        }
        let b = near_zero::<T>(-inverse * g1);
        let mut quotient = Quotient { a: near_zero::<T>(scaled), b: near_zero::<T>(b * scaled), g0, g1 };
        let mut until_reduction = T::PERIOD - 2;
        for done in 0..T::P - 1 {
            let next = if until_reduction > 0 {
                until_reduction -= 1;
                step::<T, false, V>(token, arrays, done, quotient)
            } else {
                // Two steps in a row reduce, one each of the two arrays of a kind.
                let next = step::<T, true, V>(token, arrays, done, quotient);
                if done & 1 == 1 {
                    until_reduction = T::PERIOD - 2;
                }
                next
            };
            match next {
                Some(next) => quotient = next,
                None => return false,
            }
        }

        // What is left is a constant; its cofactor divided by it is the reciprocal.
        let [_, scaled] = T::reciprocals()[(quotient.g0 + i32::from(T::Q)) as usize].map(i32::from);
        let scale = near_zero::<T>(scaled * const { reciprocal(3, T::Q as i64) as i32 }) as i16;
        let (value, low) = (V::splat(token, scale), V::splat(token, scale.wrapping_mul(T::Q_INVERSE)));
        for (x, out) in rows(arrays.s1, BEFORE, T::CHUNKS).iter().zip(&mut self.out[..T::CHUNKS]) {
            let x = V::load_at(token, x);
            let product = x.mulhi(value).sub(x.mullo(low).mulhi(V::splat(token, T::Q)));
            bar::<T, V>(token, product).within(T::INPUT_BOUND).store_at(out);
        }
        true
    }
}

macro_rules! scalars {
    ($($ring:path, $q:literal;)*) => {$(
        impl Scalars for $ring {
            fn reciprocals() -> &'static [[i16; 2]] {
                static TABLE: [[i16; 2]; 2 * $q + 1] = reciprocals(<$ring as Modulus>::Q);
                &TABLE
            }
        }
    )*};
}

scalars! {
    super::transform::cyclic::Ring653, 4621;
    super::transform::phi17::Ring761, 4591;
    super::transform::phi7::Ring857, 5167;
}

#[cfg(test)]
mod tests {
    use super::super::lanes::{Level, Oracle, Portable};
    use super::super::transform::cyclic::Ring653;
    use super::super::transform::phi7::Ring857;
    use super::super::transform::phi17::Ring761;
    use super::super::transform::tests::{Lcg, filled, random, schoolbook};
    use super::*;

    fn attempt<T: Scalars>(level: impl Level, x: &[Row]) -> Option<Vec<Row>> {
        let (mut out, mut work) = (filled::<T>(|_| 9), vec![Chunk::splat(1); work_chunks::<T>()]);
        level.run(ReciprocalOfThree::<T> { x, out: &mut out, work: &mut work, set: PhantomData }).then_some(out)
    }

    fn reciprocals_are_right<T: Scalars>() {
        let q = i64::from(T::Q);
        let (rounds, mut found, mut rng) = (12, 0, Lcg(1));
        for _ in 0..rounds {
            let x = random::<T>(&mut rng, T::HALF);
            let oracle = attempt::<T>(Oracle, &x);
            assert!(oracle == attempt::<T>(Portable, &x));
            #[cfg(target_arch = "x86_64")]
            {
                let avx2 = super::super::lanes::Avx2::detect().expect("this test needs a processor with AVX2");
                assert!(oracle == attempt::<T>(avx2, &x));
            }
            if let Some(reciprocal) = oracle {
                found += 1;
                for (i, c) in schoolbook::<T>(&x, &reciprocal).iter().enumerate() {
                    assert_eq!(center(3 * c, q), i64::from(i == 0), "coefficient {i}");
                }
            }
        }
        assert!(2 * found > rounds, "found {found} of {rounds} reciprocals; 85 % are expected");
        assert!(attempt::<T>(Oracle, &filled::<T>(|_| 0)).is_none());
        assert!(attempt::<T>(Oracle, &filled::<T>(|i| i16::from(i + 2 == T::P))).is_none());
    }

    #[test]
    fn reciprocals_of_random_elements_are_right_and_alike() {
        reciprocals_are_right::<Ring653>();
        reciprocals_are_right::<Ring761>();
        reciprocals_are_right::<Ring857>();
    }

    #[test]
    fn reductions_are_as_rare_as_the_bounds_allow() {
        let page = include_str!("../../docs/bounds.md");
        let (t, largest) = (
            [Ring653::PERIOD, Ring761::PERIOD, Ring857::PERIOD],
            [
                largest::<Ring653>(Ring653::PERIOD),
                largest::<Ring761>(Ring761::PERIOD),
                largest::<Ring857>(Ring857::PERIOD),
            ],
        );
        for row in [
            format!("| T | {} | {} | {} |", t[0], t[1], t[2]),
            format!("| largest | {} | {} | {} |", largest[0], largest[1], largest[2]),
        ] {
            assert!(page.contains(&row), "docs/bounds.md has no row {row}");
        }
    }
}
