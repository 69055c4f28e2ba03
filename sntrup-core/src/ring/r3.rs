//! The ring R/3 = (Z/3)\[x\]/(x^p - x - 1), which is also the set of small elements: coefficients in {-1, 0, 1}.

use crate::backend::Kernels;
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

    /// A copy.
    pub(crate) fn duplicate(&self) -> Self {
        Self(self.0.duplicate())
    }

    /// Replaces all coefficients by those of `short` if `mask` is all ones, none if it is zero, and returns the short
    /// element that results; the caller knows that `self` has weight w in the second case.
    pub(crate) fn or_short(mut self, short: &super::Short<P>, mask: u32) -> super::Short<P> {
        let mask = std::hint::black_box(mask) as i16;
        for (x, y) in self
            .0
            .as_mut_slice()
            .iter_mut()
            .zip(short.coeffs().as_slice())
        {
            *x ^= mask & (*x ^ *y);
        }
        super::Short::from_weighed(self.0)
    }
}
