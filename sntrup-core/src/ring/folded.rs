//! Elements of R/q between products: coefficients near zero, but not canonical.

use super::{R3, Rounded, Rq, Short};
use crate::backend::Kernels;
use crate::backend::multiplier::{Multiplier, Operand, Transformed};
use crate::backend::transform::{Canonical, Loose, Rounded as RoundedProduct, Ternary, TripleTernary};
use crate::ct::{self, Disclosed};
use crate::drbg::Drbg;
use crate::params::Params;
use crate::sampling::uniform::uniform;
use crate::wipe::{Array, Secret};

/// An element of R/q as a product leaves it for the next one: within the range that the transform takes.
pub(crate) struct Folded<P: Params>(Secret<P::Coeffs>);

impl<P: Params> Folded<P> {
    fn zero() -> Self {
        Self(Secret::zeroed())
    }

    /// The product.
    pub(crate) fn product<K: Kernels>(a: &Transformed<P>, b: &Transformed<P>, m: &mut Multiplier<P, K>) -> Self {
        let mut product = Self::zero();
        m.product::<Loose>(a, b, &mut product.0);
        product
    }

    /// The products `a[0]`·`b` and `a[1]`·`b`.
    pub(crate) fn products<K: Kernels>(
        a: [&Transformed<P>; 2],
        b: &Transformed<P>,
        m: &mut Multiplier<P, K>,
    ) -> [Self; 2] {
        let (mut first, mut second) = (Self::zero(), Self::zero());
        m.products::<Loose, Loose>(a, b, &mut first.0, &mut second.0);
        [first, second]
    }

    /// The products `a[0]`·`b`, canonical, and `a[1]`·`b`.
    pub(crate) fn last_products<K: Kernels>(
        a: [&Transformed<P>; 2],
        b: &Transformed<P>,
        m: &mut Multiplier<P, K>,
    ) -> (Rq<P>, Self) {
        let mut second = Self::zero();
        let first = Rq::build(|first| m.products::<Canonical, Loose>(a, b, first, &mut second.0));
        (first, second)
    }

    /// The transform.
    pub(crate) fn transform<K: Kernels>(&self, m: &mut Multiplier<P, K>) -> Transformed<P> {
        m.transform(&self.0)
    }

    /// Writes the transform into `out`.
    pub(crate) fn transform_into<K: Kernels>(&self, out: &mut Transformed<P>, m: &mut Multiplier<P, K>) {
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
        a: &Transformed<P>,
        drbg: &mut Drbg<K>,
        m: &mut Multiplier<P, K>,
    ) -> Self {
        let mut reciprocal = Self::zero();
        loop {
            let b = m.transform(uniform::<P, K>(drbg).coeffs());
            let mut x = Secret::<P::Coeffs>::zeroed();
            m.product::<Canonical>(a, &b, &mut x);
            // Harmless: x is uniform and independent of all secrets; see above.
            ct::declassify_all(x.as_mut_slice(), Disclosed::Blinded);
            if m.reciprocal_of_three_vartime(&x, &mut reciprocal.0) {
                return Self::product(&m.transform(&reciprocal.0), &b, m);
            }
        }
    }
}

impl<P: Params> Rq<P> {
    /// The product.
    pub(crate) fn product<'b, K: Kernels>(
        a: &Transformed<P>,
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
    /// The product of the small elements whose transforms in R/q these are.
    pub(crate) fn product<'b, K: Kernels>(
        a: &Transformed<P>,
        b: impl Into<Operand<'b, P>>,
        m: &mut Multiplier<P, K>,
    ) -> Self {
        Self::build(|out| m.product::<Ternary>(a, b, out))
    }

    /// Three times the product in R/q, taken modulo 3.
    pub(crate) fn triple_product<'b, K: Kernels>(
        a: &Transformed<P>,
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
    /// The transform of the element as one of R/q.
    pub(crate) fn transform<K: Kernels>(&self, m: &mut Multiplier<P, K>) -> Transformed<P> {
        m.transform(self.coeffs())
    }
}

impl<P: Params> Rounded<P> {
    /// The product in R/q, rounded to the nearest multiples of 3.
    pub(crate) fn product<'b, K: Kernels>(
        a: &Transformed<P>,
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
