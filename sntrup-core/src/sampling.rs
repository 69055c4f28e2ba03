//! Random small and short elements (specification, section "Random elements"), from bytes that were drawn before.

pub(crate) mod exact;
pub(crate) mod uniform;

use crate::backend::Kernels;
use crate::error::Error;
use crate::params::Params;
use crate::ring::{R3, Short};
use crate::rng::RandomSource;
use crate::wipe::{Array, SecretSlice};

/// Bytes that a small or a short element is made of: a 32-bit word for each coefficient.
pub(crate) const fn element_bytes<P: Params>() -> usize {
    4 * P::P
}

/// Draws `n` bytes in one request.
pub(crate) fn draw(rng: &mut dyn RandomSource, n: usize) -> Result<SecretSlice<u8>, Error> {
    let mut bytes = SecretSlice::zeroed(n);
    rng.fill(&mut bytes)?;
    Ok(bytes)
}

/// The words of `bytes`, little-endian.
fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word))
}

/// A small element, uniform up to 2^-30: the top two bits of three times 30 bits, less 1.
pub(crate) fn small<P: Params>(bytes: &[u8]) -> R3<P> {
    debug_assert_eq!(bytes.len(), element_bytes::<P>());
    R3::build(|out: &mut P::Coeffs| {
        for (x, word) in out.as_mut_slice().iter_mut().zip(words(bytes)) {
            *x = (((word & 0x3fff_ffff) * 3) >> 30) as i16 - 1;
        }
    })
}

/// A short element, of the order in which sorting brings the words; see [`Kernels::short`].
pub(crate) fn short<P: Params>(bytes: &[u8], k: impl Kernels) -> Short<P> {
    debug_assert_eq!(bytes.len(), element_bytes::<P>());
    Short::build(|out: &mut P::Coeffs| k.short(bytes, P::W, out.as_mut_slice()))
}
