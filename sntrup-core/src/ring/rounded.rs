//! Rounded elements of R/q: every coefficient is a canonical multiple of 3.

use crate::params::Params;
use crate::wipe::Secret;

/// A rounded element; made by a product that rounds, or by decoding.
pub(crate) struct Rounded<P: Params>(Secret<P::Coeffs>);

impl<P: Params> Rounded<P> {
    /// The element that `write` puts into an array of zeros: canonical multiples of 3, padding left zero.
    pub(crate) fn build(write: impl FnOnce(&mut P::Coeffs)) -> Self {
        let mut coeffs = Secret::zeroed();
        write(&mut coeffs);
        Self(coeffs)
    }

    /// The coefficients.
    pub(crate) fn coeffs(&self) -> &P::Coeffs {
        &self.0
    }
}
