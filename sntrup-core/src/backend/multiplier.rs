//! Products in R/q and R/3 for any parameter set, by the kernels of `transform`: what a caller holds and calls.

use super::Kernels;
use super::divsteps3::ReciprocalTernary;
use super::euclid::{ReciprocalOfThree, work_chunks};
use super::lanes::Chunk;
use super::transform::cyclic::Ring653;
use super::transform::phi7::Ring857;
use super::transform::phi17::Ring761;
use super::transform::{
    Finish, Fold, Forward, Interpolate, Multiply, MultiplyPrepared, PREPARED_FACTOR, Prepare, Row, Transform,
};
use crate::error::Error;
use crate::params::{Params, Sntrup653, Sntrup761, Sntrup857};
use crate::wipe::{Array, SecretSlice};
use std::marker::PhantomData;

/// Evaluates an expression with `$ring` naming the transform of the parameter set `$set`.
macro_rules! with_ring {
    ($set:ty, $ring:ident => $body:expr) => {
        match <$set as Params>::P {
            653 => {
                type $ring = Ring653;
                $body
            }
            761 => {
                type $ring = Ring761;
                $body
            }
            857 => {
                type $ring = Ring857;
                $body
            }
            _ => panic!("every parameter set has a transform"),
        }
    };
}

macro_rules! same_numbers {
    ($($set:ty = $ring:ty;)*) => {$(
        const _: () = {
            assert!(<$set as Params>::P == <$ring as Transform>::P);
            assert!(<$set as Params>::Q == <$ring as super::constants::Modulus>::Q);
            assert!(<$set as Params>::Coeffs::LEN == 16 * <$ring as Transform>::CHUNKS);
        };
    )*};
}

same_numbers! {
    Sntrup653 = Ring653;
    Sntrup761 = Ring761;
    Sntrup857 = Ring857;
}

/// Chunks that may hold secrets.
type SecretChunks = SecretSlice<Chunk>;

/// The values of a polynomial at the points of its parameter set's transform.
pub(crate) struct Transformed<P>(SecretChunks, PhantomData<P>);

impl<P: Params> Transformed<P> {
    /// The transform of zero.
    pub(crate) fn zero() -> Self {
        Self(SecretChunks::zeroed(with_ring!(P, Ring => Ring::POINTS)), PhantomData)
    }

    /// The values, to be read by a product.
    pub(crate) fn view(&self) -> View<'_, P> {
        View(&self.0, PhantomData)
    }

    /// The values, to be written by a transform.
    pub(crate) fn view_mut(&mut self) -> ViewMut<'_, P> {
        ViewMut(&mut self.0, PhantomData)
    }
}

/// Many [`Transformed`] in one piece of memory.
///
/// Memory of a batch's size, given back in many small pieces, goes back to the operating system, and the next batch would
/// spend a tenth of its time on page faults.
pub(crate) struct TransformedList<P>(SecretChunks, PhantomData<P>);

impl<P: Params> TransformedList<P> {
    const POINTS: usize = with_ring!(P, Ring => Ring::POINTS);

    /// `n` transforms of zero.
    ///
    /// # Errors
    /// [`Error::Memory`] if there is no room for them.
    pub(crate) fn zeros(n: usize) -> Result<Self, Error> {
        Ok(Self(SecretChunks::try_zeroed(n * Self::POINTS)?, PhantomData))
    }

    /// Number `i`, to be read by a product.
    pub(crate) fn view(&self, i: usize) -> View<'_, P> {
        View(&self.0[i * Self::POINTS..][..Self::POINTS], PhantomData)
    }

    /// Number `i`, to be written by a transform.
    pub(crate) fn view_mut(&mut self, i: usize) -> ViewMut<'_, P> {
        ViewMut(&mut self.0[i * Self::POINTS..][..Self::POINTS], PhantomData)
    }
}

/// A borrowed transform.
pub(crate) struct View<'a, P>(&'a [Chunk], PhantomData<P>);

impl<P> Clone for View<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for View<'_, P> {}

/// A place for a transform.
pub(crate) struct ViewMut<'a, P>(&'a mut [Chunk], PhantomData<P>);

impl<P> ViewMut<'_, P> {
    /// Writes a copy of another transform.
    pub(crate) fn copy_from(self, other: View<'_, P>) {
        self.0.copy_from_slice(other.0);
    }
}

/// A transformed polynomial in the form in which a product reads its second operand, to be multiplied many times:
/// 11 kB for sntrup653, 12 kB for sntrup761, 14 kB for sntrup857.
pub(crate) struct Prepared<P>(SecretChunks, PhantomData<P>);

/// The second operand of a product.
pub(crate) enum Operand<'a, P> {
    Transformed(View<'a, P>),
    Prepared(&'a Prepared<P>),
}

impl<P> Clone for Operand<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Operand<'_, P> {}

impl<'a, P> From<View<'a, P>> for Operand<'a, P> {
    fn from(operand: View<'a, P>) -> Self {
        Self::Transformed(operand)
    }
}

impl<'a, P> From<&'a Prepared<P>> for Operand<'a, P> {
    fn from(operand: &'a Prepared<P>) -> Self {
        Self::Prepared(operand)
    }
}

fn rows(a: &impl Array<Item = i16>) -> &[Row] {
    a.as_slice().as_chunks().0
}

fn rows_mut(a: &mut impl Array<Item = i16>) -> &mut [Row] {
    a.as_mut_slice().as_chunks_mut().0
}

/// The kernels of a parameter set with the scratch memory that they need, wiped when dropped.
pub(crate) struct Multiplier<P, K> {
    kernels: K,
    scratch: SecretChunks,
    product: SecretChunks,
    /// A second product; made when it is asked for.
    second: Option<SecretChunks>,
    set: PhantomData<P>,
}

impl<P: Params, K: Kernels> Multiplier<P, K> {
    pub(crate) fn new(kernels: K) -> Self {
        let (scratch, points) = with_ring!(P, Ring => (Ring::SCRATCH, Ring::POINTS));
        Self {
            kernels,
            scratch: SecretChunks::zeroed(scratch),
            product: SecretChunks::zeroed(points),
            second: None,
            set: PhantomData,
        }
    }

    /// Transforms a polynomial: small, canonical, or what a product left.
    pub(crate) fn transform_into(&mut self, a: &P::Coeffs, out: ViewMut<'_, P>) {
        with_ring!(P, Ring => self.kernels.run(Forward {
            input: rows(a),
            points: out.0,
            scratch: &mut self.scratch,
            set: PhantomData::<Ring>,
        }));
    }

    /// As [`Self::transform_into`], into memory of its own.
    pub(crate) fn transform(&mut self, a: &P::Coeffs) -> Transformed<P> {
        let mut out = Transformed::zero();
        self.transform_into(a, out.view_mut());
        out
    }

    /// The form for many products.
    pub(crate) fn prepare(&self, a: &Transformed<P>) -> Prepared<P> {
        let mut out = SecretChunks::zeroed(PREPARED_FACTOR * a.0.len());
        with_ring!(P, Ring => self.kernels.run(Prepare {
            points: &a.0,
            prepared: &mut out,
            set: PhantomData::<Ring>,
        }));
        Prepared(out, PhantomData)
    }

    /// `out` = `a`·`b`, finished as `F` says.
    pub(crate) fn product<'b, F: Finish>(&mut self, a: View<'_, P>, b: impl Into<Operand<'b, P>>, out: &mut P::Coeffs)
    where
        P: 'b,
    {
        match b.into() {
            Operand::Transformed(b) => with_ring!(P, Ring => self.kernels.run(Multiply {
                a: [a.0],
                b: b.0,
                products: [&mut self.product],
                scratch: &mut self.scratch,
                set: PhantomData::<Ring>,
            })),
            Operand::Prepared(b) => with_ring!(P, Ring => self.kernels.run(MultiplyPrepared {
                a: a.0,
                prepared: &b.0,
                product: &mut self.product,
                set: PhantomData::<Ring>,
            })),
        }
        Self::reduce::<F>(self.kernels, &mut self.product, &mut self.scratch, out);
    }

    /// The products `a[0]`·`b` and `a[1]`·`b`, finished as `F` and `G` say; cheaper than one after the other.
    pub(crate) fn products<F: Finish, G: Finish>(
        &mut self,
        a: [View<'_, P>; 2],
        b: View<'_, P>,
        first: &mut P::Coeffs,
        second: &mut P::Coeffs,
    ) {
        let second_product = self.second.get_or_insert_with(|| SecretChunks::zeroed(self.product.len()));
        with_ring!(P, Ring => self.kernels.run(Multiply {
            a: [a[0].0, a[1].0],
            b: b.0,
            products: [&mut self.product, second_product],
            scratch: &mut self.scratch,
            set: PhantomData::<Ring>,
        }));
        Self::reduce::<F>(self.kernels, &mut self.product, &mut self.scratch, first);
        Self::reduce::<G>(self.kernels, second_product, &mut self.scratch, second);
    }

    fn reduce<F: Finish>(k: K, product: &mut SecretChunks, scratch: &mut SecretChunks, out: &mut P::Coeffs) {
        with_ring!(P, Ring => {
            k.run(Interpolate { product, scratch, set: PhantomData::<Ring> });
            k.run(Fold::<Ring, F> { wide: product, out: rows_mut(out), set: PhantomData });
        });
    }

    /// `out` = 1/(3`x`) in R/q for a blinded `x`, whose value is no secret: not constant time. Returns whether it succeeded;
    /// it fails for one in seven random elements, and for zero.
    pub(crate) fn reciprocal_of_three_vartime(&self, x: &P::Coeffs, out: &mut P::Coeffs) -> bool {
        with_ring!(P, Ring => self.kernels.run(ReciprocalOfThree {
            x: rows(x),
            out: rows_mut(out),
            work: &mut SecretChunks::zeroed(work_chunks::<Ring>()),
            set: PhantomData::<Ring>,
        }))
    }
}

/// `out` = 1/`a` in R/3, in constant time. Returns all ones if `a` has a reciprocal, else zero, and then `out` is of no use.
pub(crate) fn reciprocal_ternary<P: Params>(kernels: impl Kernels, a: &P::Coeffs, out: &mut P::Coeffs) -> u32 {
    with_ring!(P, Ring => kernels.run(ReciprocalTernary {
        a: rows(a),
        out: rows_mut(out),
        set: PhantomData::<Ring>,
    }))
}
