//! The ring R/3 = (Z/3)\[x\]/(x^p - x - 1), which is also the set of small elements: coefficients in {-1, 0, 1}.

use zeroize::Zeroizing;

use crate::backend::Kernels;
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

    /// The product.
    pub(crate) fn mul(&self, other: &Self, k: impl Kernels) -> Self {
        Self::build(|h| k.mul_r3::<P>(h, &self.0, &other.0))
    }

    /// The reciprocal and all ones, or something of no use and zero if there is none.
    pub(crate) fn recip(&self, k: impl Kernels) -> (Self, u32) {
        let mut invertible = 0;
        let recip = Self::build(|out| invertible = k.recip_r3::<P>(out, &self.0));
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

    /// A copy.
    pub(crate) fn duplicate(&self) -> Self {
        Self(self.0.duplicate())
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
