//! Randomness: OpenSSL's generator for private values, so that the one which the program configured is honoured.

use std::ffi::c_int;

use sntrup_core::{RandomError, RandomSource};

use crate::ffi::sys;

/// RAND_priv_bytes as a [`RandomSource`]. Not to be used in the engine's finish or destroy: the generator is gone by then.
pub(crate) struct OpensslRandom;

impl RandomSource for OpensslRandom {
    fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
        for part in out.chunks_mut(c_int::MAX as usize) {
            let len = c_int::try_from(part.len()).map_err(|_| RandomError)?;
            // SAFETY: `part` is writable for `len` bytes. 1 is success; 0 and -1 are both failures.
            if unsafe { sys::RAND_priv_bytes(part.as_mut_ptr(), len) } != 1 {
                return Err(RandomError);
            }
        }
        Ok(())
    }
}
