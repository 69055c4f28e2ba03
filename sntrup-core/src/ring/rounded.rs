//! Rounded elements of R/q: every coefficient is a canonical multiple of 3.

use super::Rq;
use crate::params::Params;
use crate::wipe::{Array, Secret};

/// A rounded element; made by rounding or by decoding, in no other way.
pub(crate) struct Rounded<P: Params>(Secret<P::Coeffs>);

impl<P: Params> Rounded<P> {
    /// The element with these coefficients, which the kernels rounded.
    pub(super) fn from_rounded(coeffs: Secret<P::Coeffs>) -> Self {
        Self(coeffs)
    }

    /// The element that a decoder writes into an array of zeros: canonical multiples of 3, padding left zero.
    pub(crate) fn from_decoder(decode: impl FnOnce(&mut P::Coeffs)) -> Self {
        let mut coeffs = Secret::zeroed();
        decode(&mut coeffs);
        Self(coeffs)
    }

    /// The coefficients.
    pub(crate) fn coeffs(&self) -> &P::Coeffs {
        &self.0
    }

    /// The same element, its roundness forgotten.
    pub(crate) fn to_rq(&self) -> Rq<P> {
        Rq::build(|out: &mut P::Coeffs| out.as_mut_slice().copy_from_slice(self.0.as_slice()))
    }
}
