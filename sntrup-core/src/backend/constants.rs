//! Constants modulo q, computed at compile time from q alone: Montgomery factors, roots of unity, reduction multipliers,
//! and the bounds that the reductions keep.
//!
//! All of it is arithmetic on public constants, so divisions are fine here and nowhere else.
#![allow(
    clippy::integer_division,
    clippy::integer_division_remainder_used,
    clippy::modulo_arithmetic,
    reason = "arithmetic on public constants, at compile time"
)]

use super::lanes::{Chunk, V16};

/// The representative of `x` mod `q` in `-(q-1)/2..=(q-1)/2`.
pub(crate) const fn center(x: i64, q: i64) -> i64 {
    let r = x.rem_euclid(q);
    if r > q / 2 { r - q } else { r }
}

/// `base^exponent` mod `q`, centered.
pub(crate) const fn power(base: i64, exponent: i64, q: i64) -> i64 {
    let (mut result, mut square, mut rest) = (1, base.rem_euclid(q), exponent);
    while rest > 0 {
        if rest & 1 == 1 {
            result = result * square % q;
        }
        square = square * square % q;
        rest >>= 1;
    }
    center(result, q)
}

/// `1/x` mod the prime `q`, centered.
pub(crate) const fn reciprocal(x: i64, q: i64) -> i64 {
    power(x, q - 2, q)
}

/// An element of order exactly `n` modulo the prime `q`, for `n` dividing `q - 1`.
pub(crate) const fn root_of_unity(n: i64, q: i64) -> i64 {
    assert!((q - 1) % n == 0, "no such root of unity");
    let mut generator = 2;
    loop {
        let root = power(generator, (q - 1) / n, q);
        let (mut order, mut x) = (1, root);
        while x != 1 {
            x = center(x * root, q);
            order += 1;
        }
        if order == n {
            return root;
        }
        generator += 1;
    }
}

/// `q⁻¹` mod 2¹⁶, as the signed word of the Montgomery reduction.
pub(crate) const fn montgomery_inverse(q: i16) -> i16 {
    let (mut inverse, mut i) = (1i16, 0);
    while i < 4 {
        // Each step doubles the number of correct low bits; q is its own inverse mod 8 up to the first step.
        inverse = inverse.wrapping_mul(2i16.wrapping_sub(q.wrapping_mul(inverse)));
        i += 1;
    }
    assert!(inverse.wrapping_mul(q) == 1);
    inverse
}

/// A constant factor, one per lane, ready for [`mul`]: `c·2¹⁶ mod q` centered, and that times `q⁻¹` mod 2¹⁶.
#[derive(Clone, Copy)]
pub(crate) struct Factor {
    value: Chunk,
    quotient: Chunk,
}

impl Factor {
    /// The factor `lanes[i]` for lane `i`.
    pub(crate) const fn lanes(lanes: [i64; 16], q: i16) -> Self {
        let (mut value, mut quotient, mut i) = (Chunk::ZERO, Chunk::ZERO, 0);
        while i < 16 {
            value.0[i] = montgomery(lanes[i], q);
            quotient.0[i] = value.0[i].wrapping_mul(montgomery_inverse(q));
            i += 1;
        }
        Self { value, quotient }
    }

    /// The same factor for every lane.
    pub(crate) const fn splat(c: i64, q: i16) -> Self {
        Self::lanes([c; 16], q)
    }
}

/// `c·2¹⁶` mod q, centered.
pub(crate) const fn montgomery(c: i64, q: i16) -> i16 {
    let q = q as i64;
    center(center(c, q) * (1 << 16), q) as i16
}

/// `(even·2¹⁶, odd·2¹⁶)` mod q in every pair of lanes, for [`V16::madd`] and [`reduce_wide`].
pub(crate) const fn pair(even: i64, odd: i64, q: i16) -> Chunk {
    Chunk::splat_pair(montgomery(even, q), montgomery(odd, q))
}

/// The modulus and what depends on it alone.
pub(crate) trait Modulus: Sized + 'static {
    /// The prime q.
    const Q: i16;
    /// q⁻¹ mod 2¹⁶.
    const Q_INVERSE: i16 = montgomery_inverse(Self::Q);
    /// round(2¹⁵/q): the multiplier of [`bar`].
    const BAR: i16 = (((1 << 15) + Self::Q as i32 / 2) / Self::Q as i32) as i16;
    /// round(2²⁷/q): the multiplier of [`bar_tight`].
    const BAR_TIGHT: i16 = (((1 << 27) + Self::Q as i32 / 2) / Self::Q as i32) as i16;
    /// (q-1)/2, the largest canonical coefficient.
    const HALF: i32 = Self::Q as i32 / 2;
}

/// x·c mod q by Montgomery reduction. Any lane; the result is within [`mul_bound`].
#[inline(always)]
pub(crate) fn mul<M: Modulus, V: V16>(token: V::Token, x: V, c: &Factor) -> V {
    let low = x.mullo(V::load(token, &c.quotient));
    let high = x.mulhi(V::load(token, &c.value));
    high.sub(low.mulhi(V::splat(token, M::Q)))
}

/// |x·c/2¹⁶ - l·q/2¹⁶| for |x| ≤ `x`, |c| ≤ q/2, |l| ≤ 2¹⁵.
pub(crate) const fn mul_bound<M: Modulus>(x: i32) -> i32 {
    (x * M::HALF + (1 << 15) * M::Q as i32) >> 16
}

/// A representative of x near zero, within [`bar_bound`]: x - q·round(x·BAR/2¹⁵).
#[inline(always)]
pub(crate) fn bar<M: Modulus, V: V16>(token: V::Token, x: V) -> V {
    let quotient = x.mulhrs(token, M::BAR);
    x.sub(quotient.mullo(V::splat(token, M::Q)))
}

/// q/2 for the rounding, and the error of the multiplier: |x|·|1 - q·BAR/2¹⁵|.
pub(crate) const fn bar_bound<M: Modulus>(x: i32) -> i32 {
    let error = ((1 << 15) - M::Q as i32 * M::BAR as i32).abs();
    (M::Q as i32 * (1 << 14) + x * error) >> 15
}

/// A representative of x within [`bar_tight_bound`], barely beyond the canonical range: one instruction more than [`bar`].
#[inline(always)]
pub(crate) fn bar_tight<M: Modulus, V: V16>(token: V::Token, x: V) -> V {
    let quotient = x.mulhi(V::splat(token, M::BAR_TIGHT)).mulhrs(token, 1 << 4);
    x.sub(quotient.mullo(V::splat(token, M::Q)))
}

/// q/2 for the rounding, q/2¹¹ for the truncated product, and the error of the multiplier.
pub(crate) const fn bar_tight_bound<M: Modulus>(x: i32) -> i32 {
    let error = ((1i64 << 27) - M::Q as i64 * M::BAR_TIGHT as i64).abs();
    M::HALF + 1 + (M::Q as i32 >> 11) + ((x as i64 * error) >> 27) as i32 + 1
}

/// The canonical representative, -(q-1)/2..=(q-1)/2, of any lane.
#[inline(always)]
pub(crate) fn freeze<M: Modulus, V: V16>(token: V::Token, x: V) -> V {
    let (q, half) = (V::splat(token, M::Q), V::splat(token, M::HALF as i16));
    let x = bar_tight::<M, V>(token, x);
    let x = x.sub(x.greater(half).and(q));
    x.add(V::splat(token, -M::HALF as i16).greater(x).and(q)).within(M::HALF)
}

/// Montgomery reduction of sixteen 32-bit sums, even lanes in `even`, odd lanes in `odd`: sum/2¹⁶ mod q.
#[inline(always)]
pub(crate) fn reduce_wide<M: Modulus, V: V16>(token: V::Token, even: V::Wide, odd: V::Wide) -> V {
    let low = V::low_halves(even, odd);
    let high = V::high_halves(even, odd);
    let multiple = low.mullo(V::splat(token, M::Q_INVERSE)).mulhi(V::splat(token, M::Q));
    high.sub(multiple)
}

/// |sum|/2¹⁶ + q/2 for |sum| ≤ `terms`·`a`·`b`. Fails to compile when the sum does not fit 32 bits.
pub(crate) const fn reduce_wide_bound<M: Modulus>(terms: i64, a: i32, b: i32) -> i32 {
    let sum = terms * a as i64 * b as i64;
    assert!(sum < 1 << 31, "the sum of products does not fit 32 bits");
    ((sum + (1 << 15) * M::Q as i64) >> 16) as i32
}

/// `bound`, checked to fit a lane.
pub(crate) const fn fits(bound: i32) -> i32 {
    assert!(bound <= i16::MAX as i32, "a bound does not fit 16 bits");
    bound
}

#[cfg(test)]
mod tests {
    use super::super::lanes::{Kernel, Level, Oracle, Portable, V16};
    use super::*;

    struct Q4621;
    struct Q4591;
    struct Q5167;
    impl Modulus for Q4621 {
        const Q: i16 = 4621;
    }
    impl Modulus for Q4591 {
        const Q: i16 = 4591;
    }
    impl Modulus for Q5167 {
        const Q: i16 = 5167;
    }

    struct Reductions<'a, M: Modulus>(&'a Chunk, core::marker::PhantomData<M>);
    impl<M: Modulus> Kernel for Reductions<'_, M> {
        type Output = [Chunk; 3];
        #[inline(always)]
        fn run<V: V16>(self, token: V::Token) -> [Chunk; 3] {
            let x = V::load(token, self.0);
            let mut out = [Chunk::ZERO; 3];
            bar::<M, V>(token, x).store(&mut out[0]);
            bar_tight::<M, V>(token, x).store(&mut out[1]);
            freeze::<M, V>(token, x).store(&mut out[2]);
            out
        }
    }

    fn every_lane<M: Modulus>(level: impl Level) {
        let q = i64::from(M::Q);
        for block in 0..1 << 12 {
            let x = Chunk(core::array::from_fn(|i| (block * 16 + i as i32 - (1 << 15)) as i16));
            let [bar, tight, frozen] = level.run(Reductions::<M>(&x, core::marker::PhantomData));
            for i in 0..16 {
                let input = i32::from(x.0[i]);
                for (value, limit) in [
                    (bar.0[i], bar_bound::<M>(input.abs())),
                    (tight.0[i], bar_tight_bound::<M>(input.abs())),
                    (frozen.0[i], M::HALF),
                ] {
                    assert_eq!(center(value.into(), q), center(input.into(), q), "x = {input}");
                    assert!(i32::from(value).abs() <= limit, "x = {input}: {value} exceeds {limit}");
                }
            }
        }
    }

    #[test]
    fn reductions_hold_their_bounds_on_every_input() {
        fn all(level: impl Level) {
            every_lane::<Q4621>(level);
            every_lane::<Q4591>(level);
            every_lane::<Q5167>(level);
        }
        all(Oracle);
        all(Portable);
        #[cfg(target_arch = "x86_64")]
        all(super::super::lanes::Avx2::detect().expect("this test needs a processor with AVX2"));
    }

    #[test]
    fn montgomery_inverses_are_the_published_ones() {
        assert_eq!([Q4621::Q_INVERSE, Q4591::Q_INVERSE, Q5167::Q_INVERSE], [-29499, 15631, -19761]);
        assert_eq!([Q4621::BAR, Q4591::BAR, Q5167::BAR], [7, 7, 6]);
    }
}
