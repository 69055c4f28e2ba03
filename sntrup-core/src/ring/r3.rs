//! The ring R/3 = (Z/3)\[x\]/(x^p - x - 1), which is also the set of small elements: coefficients in {-1, 0, 1}.

use zeroize::Zeroizing;

use crate::backend::Kernels;
use crate::backend::multiplier::reciprocal_ternary;
use crate::ct;
use crate::fq::mod3;
use crate::params::Params;
use crate::wipe::{Array, Secret};

/// An element of R/3.
pub(crate) struct R3<P: Params>(Secret<P::Coeffs>);

impl<P: Params> R3<P> {
    /// The element that `write` puts into an array of zeros: coefficients in {-1, 0, 1}, padding left zero.
    pub(crate) fn build(write: impl FnOnce(&mut P::Coeffs)) -> Self {
        let mut coeffs = Secret::zeroed();
        write(&mut coeffs);
        Self(coeffs)
    }

    /// The coefficients.
    pub(crate) fn coeffs(&self) -> &P::Coeffs {
        &self.0
    }

    /// The coefficients, to be written by a product.
    pub(super) fn coeffs_mut(&mut self) -> &mut P::Coeffs {
        &mut self.0
    }

    /// The reciprocal and all ones, or something of no use and zero if there is none.
    pub(crate) fn recip(&self, k: impl Kernels) -> (Self, u32) {
        let mut invertible = 0;
        let recip = Self::build(|out| invertible = reciprocal_ternary::<P>(k, &self.0, out));
        (recip, invertible)
    }

    /// Whether x^3 - x - 1 divides x^p - x - 1 modulo 3: x has order 13 modulo the cubic, so if and only if p = 3 mod 13
    /// (then x^p = x^3 = x + 1).
    #[allow(clippy::integer_division_remainder_used, reason = "p is public")]
    pub(crate) const CUBIC_FACTOR: bool = P::P % 13 == 3;

    /// All ones if x^3 - x - 1 divides the element, else zero; of use only with [`Self::CUBIC_FACTOR`].
    pub(crate) fn divisible_by_cubic(&self) -> u32 {
        let mut sums = Zeroizing::new([0i16; 13]);
        for row in self.0.as_slice().chunks(13) {
            for (sum, x) in sums.iter_mut().zip(row) {
                *sum += x;
            }
        }
        // x^j = x^(j-2) + x^(j-3), from the top down.
        for j in (3..13).rev() {
            let top = mod3(sums[j]);
            sums[j - 2] += top;
            sums[j - 3] += top;
        }
        ct::is_zero(sums[..3].iter().fold(0, |bits, &x| bits | mod3(x) as u32))
    }

    /// Replaces all coefficients by those of `short` if `mask` is all ones, none if it is zero, and returns the short
    /// element that results; the caller knows that `self` has weight w in the second case.
    pub(crate) fn or_short(mut self, short: &super::Short<P>, mask: u32) -> super::Short<P> {
        let mask = std::hint::black_box(mask) as i16;
        for (x, y) in self.0.as_mut_slice().iter_mut().zip(short.coeffs().as_slice()) {
            *x ^= mask & (*x ^ *y);
        }
        super::Short::from_weighed(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{Sntrup653, Sntrup761, Sntrup857};

    /// Whether x^3 - x - 1 divides the polynomial modulo 3, by long division.
    #[allow(clippy::integer_division_remainder_used, clippy::modulo_arithmetic, reason = "the oracle divides")]
    fn divisible(mut a: Vec<i64>) -> bool {
        for i in (3..a.len()).rev() {
            let top = a[i] % 3;
            (a[i - 2], a[i - 3]) = (a[i - 2] + top, a[i - 3] + top);
        }
        a[..3].iter().all(|c| c % 3 == 0)
    }

    #[test]
    fn the_modulus_has_the_cubic_factor_where_it_is_said_to() {
        for (p, said) in [
            (653, R3::<Sntrup653>::CUBIC_FACTOR),
            (761, R3::<Sntrup761>::CUBIC_FACTOR),
            (857, R3::<Sntrup857>::CUBIC_FACTOR),
        ] {
            let mut modulus = vec![0; p + 1];
            (modulus[0], modulus[1], modulus[p]) = (-1, -1, 1);
            assert_eq!(divisible(modulus), said, "p = {p}");
        }
    }

    #[test]
    fn divisibility_by_the_cubic_factor_is_found() {
        let mut state = 1u64;
        let mut multiples = 0;
        for round in 0..600 {
            let element = R3::<Sntrup653>::build(|out| {
                for x in &mut out[..653] {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    *x = if round == 0 { 0 } else { mod3((state >> 52) as i16) };
                }
            });
            let expected = divisible(element.coeffs().iter().map(|&x| x.into()).collect());
            multiples += usize::from(expected);
            assert_eq!(element.divisible_by_cubic(), if expected { u32::MAX } else { 0 });
        }
        assert!((5..=50).contains(&multiples), "{multiples} of 600 random elements, expected about 22");
    }
}
