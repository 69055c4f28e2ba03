use crate::*;
use std::num::NonZeroUsize;
/// x
pub const MAX_BATCH: usize = 1024;
/// x
pub fn generate_batch<P: Params>(
    count: NonZeroUsize,
    rng: &mut (impl RandomSource + ?Sized),
) -> Result<Vec<KeyPair<P>>, Error> {
    (0..count.get()).map(|_| generate_key(rng)).collect()
}
