//! Uniform elements of R/q, for blinding.

use crate::backend::Kernels;
use crate::ct::{self, Disclosed};
use crate::drbg::Drbg;
use crate::params::{Params, half};
use crate::ring::Rq;
use crate::wipe::{Array, wipe};

/// Random words of 32 bits that are drawn at once; each gives two candidates.
const WORDS: usize = 16;

/// The largest multiple of q up to 2^16: candidates below it are accepted.
#[allow(clippy::integer_division, clippy::integer_division_remainder_used, reason = "q is public")]
const fn limit(q: i16) -> u32 {
    (1 << 16) / q as u32 * q as u32
}

/// ceil(2^32 / q). For x < 2^16, x times the error, which is below 1, is below 2^32 / q: quotients are exact.
const fn quotient_factor(q: i16) -> u64 {
    (1u64 << 32).div_ceil(q as u64)
}

/// An exactly uniform element of R/q.
///
/// Every coefficient is a uniform 16-bit number, drawn again until it is below the largest multiple of q, taken modulo q.
/// The pattern of rejections depends on the rejected numbers and on how many there are, and the accepted ones are independent
/// of it; so it may become known.
pub(crate) fn uniform<P: Params, K: Kernels>(drbg: &mut Drbg<K>) -> Rq<P> {
    Rq::build(|out: &mut P::Coeffs| {
        let out = &mut out.as_mut_slice()[..P::P];
        let mut random = [0; WORDS];
        let mut len = 0;
        while len < P::P {
            drbg.fill(&mut random);
            let candidates = random.iter().flat_map(|&word| [word & 0xffff, word >> 16]);
            let accepted = candidates.clone().rev().fold(0, |bits: u64, candidate| {
                bits << 1 | u64::from(candidate.wrapping_sub(const { limit(P::Q) }) >> 31)
            });
            // Harmless: see above.
            let mut accepted = ct::declassify_bits(accepted, Disclosed::RejectedWords);
            for candidate in candidates {
                // The bits are shifted out: where they are picked by number, valgrind loses sight of what is public.
                // A rejected number is overwritten by the next; what is too many overwrites the last, which is not kept.
                let quotient = (u64::from(candidate) * const { quotient_factor(P::Q) }) >> 32;
                let value = (candidate - quotient as u32 * P::Q as u32) as i16 - half(P::Q);
                if len < P::P {
                    out[len] = value;
                    len += (accepted & 1) as usize;
                }
                accepted >>= 1;
            }
        }
        wipe(&mut random);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Portable;
    use crate::params::{Sntrup653, Sntrup761, Sntrup857};
    use crate::rng::{RandomError, RandomSource};

    struct Seed;

    impl RandomSource for Seed {
        fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
            out.fill(0x5a);
            Ok(())
        }
    }

    /// Chi-square over all residues, at 100 expected for each: the statistic has mean q - 1 and variance 2(q - 1).
    fn residues_are_equally_frequent<P: Params>() {
        let mut drbg = Drbg::new(&mut Seed, Portable).unwrap();
        let mut counts = vec![0u32; P::Q as usize];
        let elements = (100 * counts.len()).div_ceil(P::P);
        for _ in 0..elements {
            let element = uniform::<P, _>(&mut drbg);
            let (values, padding) = element.coeffs().as_slice().split_at(P::P);
            values.iter().for_each(|x| counts[(x + half(P::Q)) as usize] += 1);
            assert!(padding.iter().all(|&x| x == 0));
        }
        let expected = (elements * P::P) as f64 / counts.len() as f64;
        let chi: f64 = counts.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
        let freedom = counts.len() as f64 - 1.0;
        assert!(
            (chi - freedom).abs() < 5.0 * (2.0 * freedom).sqrt(),
            "chi-square {chi} with {freedom} degrees of freedom"
        );
    }

    #[test]
    fn residues_of_uniform_elements_are_equally_frequent() {
        residues_are_equally_frequent::<Sntrup653>();
        residues_are_equally_frequent::<Sntrup761>();
        residues_are_equally_frequent::<Sntrup857>();
    }
}
