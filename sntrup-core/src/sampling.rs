//! Random small and short elements (specification, section "Random elements"), from bytes that were drawn before.

pub(crate) mod exact;

use zeroize::Zeroizing;

use crate::backend::Kernels;
use crate::error::Error;
use crate::params::Params;
use crate::ring::{R3, Short};
use crate::rng::RandomSource;
use crate::wipe::{Array, Secret};

/// Bytes that a small or a short element is made of: a 32-bit word for each coefficient.
pub(crate) const fn element_bytes<P: Params>() -> usize {
    4 * P::P
}

/// Draws `n` bytes in one request.
pub(crate) fn draw(rng: &mut dyn RandomSource, n: usize) -> Result<Zeroizing<Vec<u8>>, Error> {
    let mut bytes = Zeroizing::new(vec![0; n]);
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

/// A short element: w words marked as 1 or -1 (an even value in the two low bits), the others as 0 (the value 1), in
/// the order that sorting by the 30 random bits above gives.
pub(crate) fn short<P: Params>(bytes: &[u8], k: impl Kernels) -> Short<P> {
    debug_assert_eq!(bytes.len(), element_bytes::<P>());
    let mut tagged = Secret::<P::Words>::zeroed();
    for (i, (tag, word)) in tagged.as_mut_slice().iter_mut().zip(words(bytes)).enumerate() {
        *tag = if i < P::W { word & !1 } else { word & !3 | 1 };
    }
    k.sort(tagged.as_mut_slice());
    Short::<P>::from_sorted(&tagged)
}
