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
//! units too, as KeyGen makes them. Each u_i is as secret as a g_i. The f_i and rho are drawn as in KeyGen.
//!
//! How often is a batch thrown away? A small element has no inverse if it is divisible by a factor of x^p - x - 1 modulo
//! 3; a factor of degree d divides it with probability about 3^-d. For p = 761 the degrees are 19, 60, 682, and for
//! p = 857 they are 25, 113, 719: fewer than one batch of 32 in 10^7. For p = 653 they start with 3, and one element in
//! 27 fails: there, every u_i is first tested against that factor, x^3 - x - 1, by itself and drawn again, which leaves
//! degrees of 16 and more to the batch. By the argument above, an early test of part of the condition changes nothing.

use std::num::NonZeroUsize;

use crate::backend::{Kernels, with_backend};
use crate::codec::key;
use crate::ct::{self, Disclosed};
use crate::error::Error;
use crate::keys::KeyPair;
use crate::params::Params;
use crate::ring::{R3, Rq, Short};
use crate::rng::RandomSource;
use crate::sampling::{self, draw, element_bytes};
use crate::wipe::Array;

/// Most key pairs that share an inversion; bounds the working memory to about 12 MB.
pub const MAX_BATCH: usize = 1024;

/// Makes `count` key pairs; more than [`MAX_BATCH`] are made in several batches.
///
/// Asks the random source once a batch for 8p + (p+3)/4 bytes a key, and again for elements without an inverse modulo 3
/// (practically only for sntrup653, and then mostly for one or two of them).
///
/// # Errors
/// [`Error::Random`] if the random source fails, [`Error::Memory`] if there is no room for so many keys.
pub fn generate_batch<P: Params>(
    count: NonZeroUsize,
    mut rng: &mut (impl RandomSource + ?Sized),
) -> Result<Vec<KeyPair<P>>, Error> {
    let count = count.get();
    let mut pairs = Vec::new();
    let bytes = count.saturating_mul(P::PUBLIC_KEY_BYTES + P::SECRET_KEY_BYTES);
    pairs.try_reserve_exact(count).map_err(|_| Error::Memory { bytes })?;
    while pairs.len() < count {
        let n = (count - pairs.len()).min(MAX_BATCH);
        with_backend!(k => batch(n, &mut pairs, &mut rng, k))?;
    }
    Ok(pairs)
}

/// Adds a batch of `n` pairs to `pairs`, all or none.
fn batch<P: Params>(
    n: usize,
    pairs: &mut Vec<KeyPair<P>>,
    rng: &mut dyn RandomSource,
    k: impl Kernels,
) -> Result<(), Error> {
    let key_bytes = 2 * element_bytes::<P>() + P::SmallBytes::LEN;
    loop {
        let random = draw(rng, n * key_bytes)?;
        let parts = || random.chunks_exact(key_bytes).map(|key| key.split_at(element_bytes::<P>()));
        let u = units(parts().map(|(u, _)| sampling::small(u)).collect(), rng)?;
        let f_rho = || parts().map(|(_, rest)| rest.split_at(element_bytes::<P>()));
        let f: Vec<Short<P>> = f_rho().map(|(f, _)| sampling::short(f, k)).collect();

        // Up: u'_i = a_{i-1} g_i.
        let mut g = u[0].duplicate();
        let mut a = Rq::from_short(&f[0]);
        let mut lifted = vec![Rq::from_small(&g)];
        for (u, f) in u.iter().zip(&f).skip(1) {
            g = g.mul(u, k);
            lifted.push(a.mul(&Rq::from_small(&g), k));
            a = a.mul(&Rq::from_short(f), k);
        }

        // Harmless: the elements of a rejected batch are never used, and those of an accepted one are known to be units.
        let (mut g_recip, invertible) = g.recip(k);
        if !ct::declassify(invertible, Disclosed::Invertible) {
            continue;
        }
        let mut t = a.triple().recip(k);

        // Down.
        for (i, (_, rho)) in f_rho().enumerate().collect::<Vec<_>>().into_iter().rev() {
            pairs.push(key::assemble(&f[i], &g_recip, &lifted[i].mul(&t, k), rho, k));
            if i > 0 {
                g_recip = g_recip.mul(&u[i], k);
                t = t.mul(&Rq::from_short(&f[i]), k);
            }
        }
        return Ok(());
    }
}

/// The elements, with those drawn again that the cubic factor of x^p - x - 1 modulo 3, if there is one, rules out.
fn units<P: Params>(mut u: Vec<R3<P>>, rng: &mut dyn RandomSource) -> Result<Vec<R3<P>>, Error> {
    if !R3::<P>::CUBIC_FACTOR {
        return Ok(u);
    }
    loop {
        // Harmless: a rejected element is never used, and an accepted one is known not to be divisible.
        let rejected: Vec<_> =
            u.iter_mut().filter(|u| ct::declassify(u.divisible_by_cubic(), Disclosed::DivisibleByCubic)).collect();
        if rejected.is_empty() {
            return Ok(u);
        }
        let random = draw(rng, rejected.len() * element_bytes::<P>())?;
        for (u, bytes) in rejected.into_iter().zip(random.chunks_exact(element_bytes::<P>())) {
            *u = sampling::small(bytes);
        }
    }
}
