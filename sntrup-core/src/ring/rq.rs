//! The field R/q = (Z/q)\[x\]/(x^p - x - 1): canonical coefficients in [-(q-1)/2, (q-1)/2].

use crate::params::Params;
use crate::wipe::Secret;

/// An element of R/q.
pub(crate) struct Rq<P: Params>(Secret<P::Coeffs>);

impl<P: Params> Rq<P> {
    /// The element that `write` puts into an array of zeros: canonical coefficients, padding left zero.
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
}
