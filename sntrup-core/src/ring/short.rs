//! Short elements: coefficients in {-1, 0, 1}, exactly w of them not 0.

use crate::params::Params;
use crate::wipe::{Array, Secret};

/// A short element.
pub(crate) struct Short<P: Params>(Secret<P::Coeffs>);

impl<P: Params> Short<P> {
    /// The element with these coefficients, which are in {-1, 0, 1} and have weight w.
    pub(super) fn from_weighed(coeffs: Secret<P::Coeffs>) -> Self {
        debug_assert_eq!(coeffs.as_slice().iter().filter(|&&x| x != 0).count(), P::W);
        Self(coeffs)
    }

    /// The element that `write` puts into an array of zeros: coefficients in {-1, 0, 1}, w of them not 0, padding left zero.
    pub(crate) fn build(write: impl FnOnce(&mut P::Coeffs)) -> Self {
        let mut coeffs = Secret::<P::Coeffs>::zeroed();
        write(&mut coeffs);
        Self::from_weighed(coeffs)
    }

    /// w ones and then zeros: what decryption puts in the place of an element of another weight.
    pub(crate) fn fallback() -> Self {
        let mut coeffs = Secret::<P::Coeffs>::zeroed();
        coeffs.as_mut_slice()[..P::W].fill(1);
        Self::from_weighed(coeffs)
    }

    /// The coefficients.
    pub(crate) fn coeffs(&self) -> &P::Coeffs {
        &self.0
    }
}
