//! Elements of R/q between products: coefficients near zero, but not canonical.

use super::{R3, Rounded, Rq, Short};
use crate::backend::Kernels;
use crate::backend::multiplier::{Multiplier, Operand, Transformed, View, ViewMut};
use crate::backend::transform::{Canonical, Loose, Rounded as RoundedProduct, Ternary, TripleTernary};
use crate::ct::{self, Disclosed};
use crate::drbg::Drbg;
use crate::params::Params;
use crate::sampling::uniform::uniform;
use crate::wipe::{Array, Secret};

/// An element of R/q as a product leaves it for the next one: within the range that the transform takes.
pub(crate) struct Folded<P: Params>(Secret<P::Coeffs>);

impl<P: Params> Folded<P> {
    /// Zero: a place for products.
    pub(crate) fn zero() -> Self {
        Self(Secret::zeroed())
    }

    /// The product.
    pub(crate) fn product<K: Kernels>(a: View<'_, P>, b: View<'_, P>, m: &mut Multiplier<P, K>) -> Self {
        let mut product = Self::zero();
        m.product::<Loose>(a, b, &mut product.0);
        product
    }

    /// Writes the products `a[0]`·`b` and `a[1]`·`b` to `self` and `second`.
    pub(crate) fn set_products<K: Kernels>(
        &mut self,
        second: &mut Self,
        a: [View<'_, P>; 2],
        b: View<'_, P>,
        m: &mut Multiplier<P, K>,
    ) {
        m.products::<Loose, Loose>(a, b, &mut self.0, &mut second.0);
    }

    /// The transform.
    pub(crate) fn transform<K: Kernels>(&self, m: &mut Multiplier<P, K>) -> Transformed<P> {
        m.transform(&self.0)
    }

    /// Writes the transform into `out`.
    pub(crate) fn transform_into<K: Kernels>(&self, out: ViewMut<'_, P>, m: &mut Multiplier<P, K>) {
        m.transform_into(&self.0, out);
    }

    /// 1/(3a) for `a` other than zero.
    ///
    /// # Blinding
    ///
    /// With b uniform in R/q, x = a·b is uniform whatever `a` is, since R/q is a field and multiplication by `a` is a
    /// bijection of it; so x is independent of `a`, and of everything else that is secret. The inversion of x may then show
    /// x by its time and its memory accesses. It gives up for some x (one in seven), and whether it does depends on x
    /// alone; another b is drawn then. 1/(3a) is b/(3x), by products in constant time.
    pub(crate) fn reciprocal_of_three<K: Kernels>(
        a: View<'_, P>,
        drbg: &mut Drbg<K>,
        m: &mut Multiplier<P, K>,
    ) -> Self {
        let mut reciprocal = Self::zero();
        loop {
            let b = m.transform(uniform::<P, K>(drbg).coeffs());
            let mut x = Secret::<P::Coeffs>::zeroed();
            m.product::<Canonical>(a, b.view(), &mut x);
            // Harmless: x is uniform and independent of all secrets; see above.
            ct::declassify_all(x.as_mut_slice(), Disclosed::Blinded);
            if m.reciprocal_of_three_vartime(&x, &mut reciprocal.0) {
                return Self::product(m.transform(&reciprocal.0).view(), b.view(), m);
            }
        }
    }
}

impl<P: Params> Rq<P> {
    /// Writes the products `a[0]`·`b` and `a[1]`·`b` to `self` and `second`.
    pub(crate) fn set_products<K: Kernels>(
        &mut self,
        second: &mut Folded<P>,
        a: [View<'_, P>; 2],
        b: View<'_, P>,
        m: &mut Multiplier<P, K>,
    ) {
        m.products::<Canonical, Loose>(a, b, self.coeffs_mut(), &mut second.0);
    }

    /// Writes the product to `self`.
    pub(crate) fn set_product<'b, K: Kernels>(
        &mut self,
        a: View<'_, P>,
        b: impl Into<Operand<'b, P>>,
        m: &mut Multiplier<P, K>,
    ) {
        m.product::<Canonical>(a, b, self.coeffs_mut());
    }

    /// The product.
    pub(crate) fn product<'b, K: Kernels>(
        a: View<'_, P>,
        b: impl Into<Operand<'b, P>>,
        m: &mut Multiplier<P, K>,
    ) -> Self {
        Self::build(|out| m.product::<Canonical>(a, b, out))
    }

    /// The transform.
    pub(crate) fn transform<K: Kernels>(&self, m: &mut Multiplier<P, K>) -> Transformed<P> {
        m.transform(self.coeffs())
    }
}

impl<P: Params> R3<P> {
    /// Writes the product of the small elements whose transforms in R/q these are to `self`.
    pub(crate) fn set_product<'b, K: Kernels>(
        &mut self,
        a: View<'_, P>,
        b: impl Into<Operand<'b, P>>,
        m: &mut Multiplier<P, K>,
    ) {
        m.product::<Ternary>(a, b, self.coeffs_mut());
    }

    /// Writes the transform of the element as one of R/q into `out`.
    pub(crate) fn transform_into<K: Kernels>(&self, out: ViewMut<'_, P>, m: &mut Multiplier<P, K>) {
        m.transform_into(self.coeffs(), out);
    }

    /// The product of the small elements whose transforms in R/q these are.
    pub(crate) fn product<'b, K: Kernels>(
        a: View<'_, P>,
        b: impl Into<Operand<'b, P>>,
        m: &mut Multiplier<P, K>,
    ) -> Self {
        Self::build(|out| m.product::<Ternary>(a, b, out))
    }

    /// Three times the product in R/q, taken modulo 3.
    pub(crate) fn triple_product<'b, K: Kernels>(
        a: View<'_, P>,
        b: impl Into<Operand<'b, P>>,
        m: &mut Multiplier<P, K>,
    ) -> Self {
        Self::build(|out| m.product::<TripleTernary>(a, b, out))
    }

    /// The transform of the element as one of R/q.
    pub(crate) fn transform<K: Kernels>(&self, m: &mut Multiplier<P, K>) -> Transformed<P> {
        m.transform(self.coeffs())
    }
}

impl<P: Params> Short<P> {
    /// Writes the transform of the element as one of R/q into `out`.
    pub(crate) fn transform_into<K: Kernels>(&self, out: ViewMut<'_, P>, m: &mut Multiplier<P, K>) {
        m.transform_into(self.coeffs(), out);
    }

    /// The transform of the element as one of R/q.
    pub(crate) fn transform<K: Kernels>(&self, m: &mut Multiplier<P, K>) -> Transformed<P> {
        m.transform(self.coeffs())
    }
}

impl<P: Params> Rounded<P> {
    /// The product in R/q, rounded to the nearest multiples of 3.
    pub(crate) fn product<'b, K: Kernels>(
        a: View<'_, P>,
        b: impl Into<Operand<'b, P>>,
        m: &mut Multiplier<P, K>,
    ) -> Self {
        Self::build(|out| m.product::<RoundedProduct>(a, b, out))
    }

    /// The transform.
    pub(crate) fn transform<K: Kernels>(&self, m: &mut Multiplier<P, K>) -> Transformed<P> {
        m.transform(self.coeffs())
    }
}
