//! Scalar arithmetic modulo q and modulo 3 with constants that are computed from q: Barrett and Montgomery reduction.

use std::marker::PhantomData;

use crate::params::{Params, half};

/// The field Z/q of a parameter set. Canonical representatives lie in [-(q-1)/2, (q-1)/2].
pub(crate) struct Fq<P>(PhantomData<P>);

impl<P: Params> Fq<P> {
    const SHIFT: u32 = 44;
    /// 2^44/q, rounded to the nearest integer; below 2^31.9 because q > 2^12.1.
    #[allow(clippy::integer_division, clippy::integer_division_remainder_used, reason = "q is public")]
    const RECIPROCAL: i64 = ((1 << Self::SHIFT) + (P::Q as i64 >> 1)) / P::Q as i64;
    /// 1/q modulo 2^16, by Newton's iteration: each step doubles the number of right bits, and q is right to 3.
    const Q_INVERSE: i16 = {
        let mut x = P::Q;
        let mut bits = 3;
        while bits < 16 {
            x = x.wrapping_mul(2i16.wrapping_sub(P::Q.wrapping_mul(x)));
            bits *= 2;
        }
        x
    };
    /// Largest canonical representative (q-1)/2.
    pub(crate) const HALF: i16 = half(P::Q);

    /// Canonical representative of any `x`.
    ///
    /// The reciprocal is off by at most 1/2, so the estimate of x/q is off by at most 2^31 / 2^45 = 2^-14; x/q is at
    /// least 1/(2q) > 2^-13.4 away from where rounding changes, so the rounded quotient is exact.
    #[inline(always)]
    pub(crate) const fn freeze(x: i32) -> i16 {
        let quotient = ((x as i64 * Self::RECIPROCAL + (1 << (Self::SHIFT - 1))) >> Self::SHIFT) as i32;
        x.wrapping_sub(quotient.wrapping_mul(P::Q as i32)) as i16
    }

    /// x * c / 2^16 modulo q for a multiplier with its companion from [`Self::montgomery`].
    ///
    /// |result| <= (q + |x c| / 2^15) / 2, since both high halves are floors of numbers of at most q/2 and |x c|/2^16.
    #[inline(always)]
    pub(crate) const fn mul_montgomery(x: i16, c: (i16, i16)) -> i16 {
        let low = x.wrapping_mul(c.1);
        let high = ((x as i32 * c.0 as i32) >> 16) as i16;
        high.wrapping_sub(((low as i32 * P::Q as i32) >> 16) as i16)
    }

    /// A multiplier for [`Self::mul_montgomery`]: `c` and c/q modulo 2^16.
    #[inline(always)]
    pub(crate) const fn montgomery(c: i16) -> (i16, i16) {
        (c, c.wrapping_mul(Self::Q_INVERSE))
    }

    /// 1/x modulo q by Fermat's theorem, canonical; 0 for 0. The exponent is public.
    pub(crate) const fn reciprocal(x: i16) -> i16 {
        let mut result = 1;
        let mut bit = 15;
        while bit > 0 {
            bit -= 1;
            result = Self::freeze(result as i32 * result as i32);
            if ((P::Q - 2) >> bit) & 1 == 1 {
                result = Self::freeze(result as i32 * x as i32);
            }
        }
        result
    }
}

/// Representative in {-1, 0, 1} of `x` modulo 3; |x| < 2^14.
///
/// 10923/2^15 exceeds 1/3 by 1/(3 * 2^15), so x/3 is estimated to within 1/6, the distance to where rounding changes.
#[inline(always)]
pub(crate) const fn mod3(x: i16) -> i16 {
    debug_assert!(x > -(1 << 14) && x < 1 << 14);
    // Rounded in two steps, as a vector instruction does it.
    let quotient = (((x as i32 * 10923) >> 14) + 1) >> 1;
    x - 3 * quotient as i16
}

/// A third of `x`, a multiple of 3 in [0, 2^14).
#[inline(always)]
pub(crate) const fn third(x: i16) -> i16 {
    debug_assert!(x >= 0 && x < 1 << 14);
    ((x as i32 * 10923) >> 15) as i16
}

#[cfg(test)]
#[allow(clippy::integer_division_remainder_used, clippy::modulo_arithmetic, reason = "the oracle divides")]
mod tests {
    use super::*;
    use crate::params::{Sntrup653, Sntrup761, Sntrup857};

    fn field<P: Params>() {
        let (q, half) = (i64::from(P::Q), i64::from(Fq::<P>::HALF));
        // The quotient grows with x, so exactness at both ends of every run is exactness everywhere.
        let mut low = i64::from(i32::MIN);
        while low <= i64::from(i32::MAX) {
            let centre = (low + half).div_euclid(q) * q;
            let high = (centre + half).min(i64::from(i32::MAX));
            assert_eq!(i64::from(Fq::<P>::freeze(low as i32)), low - centre);
            assert_eq!(i64::from(Fq::<P>::freeze(high as i32)), high - centre);
            low = high + 1;
        }
        assert_eq!(Fq::<P>::Q_INVERSE.wrapping_mul(P::Q), 1);
        for x in -Fq::<P>::HALF..=Fq::<P>::HALF {
            let product = Fq::<P>::freeze(i32::from(x) * i32::from(Fq::<P>::reciprocal(x)));
            assert_eq!(product, i16::from(x != 0));
        }
        let extremes = [-Fq::<P>::HALF, -1, 0, 1, 2, 1234, Fq::<P>::HALF];
        for c in extremes {
            for x in i16::MIN..=i16::MAX {
                let y = i64::from(Fq::<P>::mul_montgomery(x, Fq::<P>::montgomery(c)));
                let product = i64::from(x) * i64::from(c);
                assert_eq!((y * 65536 - product) % q, 0);
                assert!(2 * 32768 * y.abs() <= 32768 * q + product.abs(), "{x} {c} {y}");
            }
        }
    }

    #[test]
    fn field_constants_are_exact() {
        field::<Sntrup653>();
        field::<Sntrup761>();
        field::<Sntrup857>();
    }

    #[test]
    fn thirds_are_exact() {
        for x in -(1 << 14) + 1..1 << 14 {
            assert_eq!(mod3(x), (x + 1).rem_euclid(3) - 1);
        }
        for x in 0..1 << 12 {
            assert_eq!(third(3 * x), x);
        }
    }
}
