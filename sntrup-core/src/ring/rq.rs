//! The field R/q = (Z/q)\[x\]/(x^p - x - 1): canonical coefficients in [-(q-1)/2, (q-1)/2].

use super::{R3, Rounded, Short};
use crate::backend::Kernels;
use crate::fq::Fq;
use crate::params::Params;
use crate::wipe::{Array, Secret};

/// An element of R/q.
pub(crate) struct Rq<P: Params>(Secret<P::Coeffs>);

impl<P: Params> Rq<P> {
    /// The element that `write` puts into an array of zeros: canonical coefficients, padding left zero.
    pub(crate) fn build(write: impl FnOnce(&mut P::Coeffs)) -> Self {
        let mut coeffs = Secret::zeroed();
        write(&mut coeffs);
        Self(coeffs)
    }

    /// The short element as an element of R/q.
    pub(crate) fn from_short(a: &Short<P>) -> Self {
        Self::build(|out| out.as_mut_slice().copy_from_slice(a.coeffs().as_slice()))
    }

    /// The small element, with coefficients in {-1, 0, 1}, as an element of R/q.
    pub(crate) fn from_small(a: &R3<P>) -> Self {
        Self::build(|out| out.as_mut_slice().copy_from_slice(a.coeffs().as_slice()))
    }

    /// The coefficients.
    pub(crate) fn coeffs(&self) -> &P::Coeffs {
        &self.0
    }

    /// The product.
    pub(crate) fn mul(&self, other: &Self, k: impl Kernels) -> Self {
        Self::build(|h| k.mul_rq::<P>(h, &self.0, &other.0))
    }

    /// The element times 3.
    pub(crate) fn triple(mut self) -> Self {
        for x in self.0.as_mut_slice() {
            *x = Fq::<P>::freeze(3 * i32::from(*x));
        }
        self
    }

    /// The reciprocal of a non-zero element.
    pub(crate) fn recip(&self, k: impl Kernels) -> Self {
        Self::build(|out| k.recip_rq::<P>(out, &self.0))
    }

    /// Rounds every coefficient to the nearest multiple of 3 (specification: Round).
    pub(crate) fn round(mut self, k: impl Kernels) -> Rounded<P> {
        k.round::<P>(&mut self.0);
        Rounded::from_rounded(self.0)
    }

    /// 3 times the element in R/q, then its canonical coefficients modulo 3.
    pub(crate) fn triple_mod3(&self, k: impl Kernels) -> R3<P> {
        R3::build(|e| k.triple_mod3::<P>(e, &self.0))
    }
}
