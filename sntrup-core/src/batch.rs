//! Many key pairs at once (OpenSSLNTRU, section "Batch key generation"): Montgomery's trick spends one inversion in each
//! ring on the whole batch. Only this file knows the product chain.
//!
//! # The chain
//!
//! For each key i, draw a small u_i and a short f_i. Going up, g_i = u_1 ... u_i in R/3 and a_i = f_1 ... f_i in R/q.
//! Invert g_n and 3 a_n. Going down, 1/g_{i-1} = u_i / g_i, and with t_i = 1/(3 a_i), the public key of key i is
//! g_i/(3 f_i) = (a_{i-1} g_i) t_i, and t_{i-1} = f_i t_i.
//!
//! # Why the keys have the same distribution as keys made one by one
//!
//! The u_i are independent and small, and the batch is used only if g_n has an inverse, that is, if all u_i have one.
//! The uniform law on n-tuples of small elements, conditioned on all of them being units, is the uniform law on n-tuples
//! of units: the condition is a product of one condition for each u_i, so it does not matter whether each u_i was drawn
//! again by itself or all of them were. The map (u_1, ..., u_n) to (u_1, u_1 u_2, ..., u_1 ... u_n) is a bijection of
//! n-tuples of units, since u_i = g_i / g_{i-1}; a bijection keeps the uniform law, so the g_i are independent uniform
//! units too, as KeyGen makes them. Each u_i is as secret as a g_i. The u_i, f_i and rho are drawn from a generator that one
//! request seeds (`drbg`), the u_i and f_i by exact procedures of their own (`sampling::exact`).
//!
//! How often is a batch thrown away? A small element has no inverse if it is divisible by a factor of x^p - x - 1 modulo
//! 3; a factor of degree d divides it with probability about 3^-d. For p = 761 the degrees are 19, 60, 682, and for
//! p = 857 they are 25, 113, 719: fewer than one batch of 32 in 10^7. For p = 653 they start with 3, and one element in
//! 27 fails: there, every u_i is first tested against that factor, x^3 - x - 1, by itself and drawn again, which leaves
//! degrees of 16 and more to the batch. By the argument above, an early test of part of the condition changes nothing.

use std::num::NonZeroUsize;

use crate::backend::Kernels;
use crate::backend::multiplier::{Multiplier, Transformed, TransformedList};
use crate::codec::key;
use crate::ct::{self, Disclosed};
use crate::drbg::Drbg;
use crate::error::Error;
use crate::keys::KeyPair;
use crate::params::Params;
use crate::ring::{Folded, R3, Rq, Short};
use crate::rng::RandomSource;
use crate::sampling::exact;
use crate::wipe::{Array as _, Secret};

/// Most key pairs that share an inversion; bounds the working memory to about 12 MB.
pub const MAX_BATCH: usize = MAX.get();
const MAX: NonZeroUsize = NonZeroUsize::new(1024).unwrap();

/// Makes `count` key pairs; more than [`MAX_BATCH`] are made in several batches.
///
/// Asks the random source once for each batch, for the 32 bytes of a seed.
///
/// # Errors
/// [`Error::Random`] if the random source fails, [`Error::Memory`] if there is no room for so many keys.
pub fn generate_batch<P: Params>(
    count: NonZeroUsize,
    mut rng: &mut (impl RandomSource + ?Sized),
) -> Result<Vec<KeyPair<P>>, Error> {
    let mut pairs = Vec::new();
    let bytes = count.get().saturating_mul(P::PUBLIC_KEY_BYTES + P::SECRET_KEY_BYTES);
    pairs.try_reserve_exact(count.get()).map_err(|_| Error::Memory { bytes })?;
    while let Some(left) = NonZeroUsize::new(count.get() - pairs.len()) {
        P::generate_batch(left.min(MAX), &mut pairs, &mut rng)?;
    }
    Ok(pairs)
}

/// Where a batch takes its elements from.
pub(crate) trait Source<K: Kernels> {
    /// A uniform small element.
    fn small<P: Params>(&mut self) -> R3<P>;
    /// `n` uniform short elements.
    fn short<P: Params>(&mut self, n: usize) -> Vec<Short<P>>;
    /// Fills `out` with uniform bytes.
    fn bytes(&mut self, out: &mut [u8]);
    /// The generator, for blinding.
    fn drbg(&mut self) -> &mut Drbg<K>;
}

impl<K: Kernels> Source<K> for Drbg<K> {
    fn small<P: Params>(&mut self) -> R3<P> {
        exact::small(self)
    }

    fn short<P: Params>(&mut self, n: usize) -> Vec<Short<P>> {
        exact::short(n, self)
    }

    fn bytes(&mut self, out: &mut [u8]) {
        self.fill_bytes(out);
    }

    fn drbg(&mut self) -> &mut Drbg<K> {
        self
    }
}

/// Adds a batch of `n` pairs to `pairs`.
pub(crate) fn batch<P: Params, K: Kernels>(
    n: usize,
    pairs: &mut Vec<KeyPair<P>>,
    source: &mut impl Source<K>,
    k: K,
) -> Result<(), Error> {
    let m = &mut Multiplier::new(k);
    // The transforms of all u_i, f_i and g_i, in this order.
    let points = &mut TransformedList::zeros(3 * n)?;
    let (u, f, g) = (|i| i, |i| n + i, |i| 2 * n + i);

    let short = source.short::<P>(n);
    for (i, short) in short.iter().enumerate() {
        short.transform_into(points.view_mut(f(i)), m);
    }

    // Up in R/3: g_i = u_1 ... u_i.
    let mut g_recip = loop {
        let mut product = unit::<P, K>(source);
        product.transform_into(points.view_mut(u(0)), m);
        product.transform_into(points.view_mut(g(0)), m);
        for i in 1..n {
            unit::<P, K>(source).transform_into(points.view_mut(u(i)), m);
            product.set_product(points.view(g(i - 1)), points.view(u(i)), m);
            product.transform_into(points.view_mut(g(i)), m);
        }
        // Harmless: the elements of a rejected batch are never used, and those of an accepted one are known to be units.
        let (g_recip, invertible) = product.recip(k);
        if ct::declassify(invertible, Disclosed::Invertible) {
            break g_recip;
        }
    };

    // Up in R/q: a_i = f_1 ... f_i, and a_{i-1} g_i in the place of g_i.
    let (mut lifted, mut a) = (Folded::zero(), Folded::zero());
    let mut a_points = Transformed::zero();
    a_points.view_mut().copy_from(points.view(f(0)));
    for i in 1..n {
        lifted.set_products(&mut a, [points.view(g(i)), points.view(f(i))], a_points.view(), m);
        lifted.transform_into(points.view_mut(g(i)), m);
        a.transform_into(a_points.view_mut(), m);
    }
    let mut t = Folded::reciprocal_of_three(a_points.view(), source.drbg(), m);

    // Down.
    let first = pairs.len();
    let mut rho = Secret::<P::SmallBytes>::zeroed();
    let mut h = Rq::build(|_| ());
    let mut t_points = a_points;
    for i in (0..n).rev() {
        t.transform_into(t_points.view_mut(), m);
        if i > 0 {
            h.set_products(&mut t, [points.view(g(i)), points.view(f(i))], t_points.view(), m);
        } else {
            h.set_product(points.view(g(0)), t_points.view(), m);
        }
        source.bytes(rho.as_mut_slice());
        pairs.push(key::assemble(&short[i], &g_recip, &h, rho.as_slice(), k));
        if i > 0 {
            // The lifted element is used up; its place serves for the transform of 1/g_i.
            g_recip.transform_into(points.view_mut(g(i)), m);
            g_recip.set_product(points.view(g(i)), points.view(u(i)), m);
        }
    }
    key::hash_public_keys(&mut pairs[first..], k);
    Ok(())
}

/// A small element; not one that the cubic factor of x^p - x - 1 modulo 3, if there is one, divides.
fn unit<P: Params, K: Kernels>(source: &mut impl Source<K>) -> R3<P> {
    loop {
        let u = source.small::<P>();
        if !R3::<P>::CUBIC_FACTOR || !ct::declassify(u.divisible_by_cubic(), Disclosed::DivisibleByCubic) {
            return u;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Portable;
    use crate::params::{Sntrup653, Sntrup761, Sntrup857};
    use crate::rng::RandomError;

    /// A source that gives 0, which has no inverse, as its small element number `bad`.
    struct NoInverse {
        inner: Drbg<Portable>,
        bad: usize,
        small: usize,
        short: usize,
    }

    impl Source<Portable> for NoInverse {
        fn small<P: Params>(&mut self) -> R3<P> {
            self.small += 1;
            if self.small == self.bad + 1 { R3::build(|_| ()) } else { self.inner.small() }
        }

        fn short<P: Params>(&mut self, n: usize) -> Vec<Short<P>> {
            self.short += 1;
            self.inner.short(n)
        }

        fn bytes(&mut self, out: &mut [u8]) {
            self.inner.bytes(out);
        }

        fn drbg(&mut self) -> &mut Drbg<Portable> {
            &mut self.inner
        }
    }

    struct Seed;

    impl RandomSource for Seed {
        fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
            out.fill(0x3c);
            Ok(())
        }
    }

    /// An element without an inverse is drawn again: by itself where the early test sees it, else with the whole batch.
    fn redrawn<P: Params>() {
        for (n, bad) in [(1, 0), (4, 0), (4, 2), (4, 3)] {
            let mut source = NoInverse { inner: Drbg::new(&mut Seed, Portable).unwrap(), bad, small: 0, short: 0 };
            let mut pairs = Vec::<KeyPair<P>>::new();
            batch(n, &mut pairs, &mut source, Portable).unwrap();
            assert_eq!((pairs.len(), source.short), (n, 1));
            if P::P == 653 {
                assert!(source.small > n && source.small <= n + 4, "{} elements for {n}", source.small);
            } else {
                assert_eq!(source.small, 2 * n);
            }
            for pair in &pairs {
                let parts = key::split::<P>(pair.secret().as_bytes());
                let g_recip = crate::codec::small::decode_r3::<P>(parts.g_recip, Portable);
                assert_ne!(g_recip.recip(Portable).1, 0, "the stored 1/g has no inverse");
            }
        }
    }

    #[test]
    fn elements_without_an_inverse_are_drawn_again() {
        redrawn::<Sntrup653>();
        redrawn::<Sntrup761>();
        redrawn::<Sntrup857>();
    }
}
