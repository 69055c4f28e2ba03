//! Randomness: the kernel's generator.
//!
//! The core offers providers seed material (get_entropy), not the random bytes of the program's generator: those are had
//! from libcrypto only by a provider that links it and makes a library context of its own. The kernel's generator needs
//! neither, cannot be misconfigured, and gives other bytes in a forked child.

use std::io;

use sntrup_core::{RandomError, RandomSource};

/// getrandom(2), which waits only while the system starts and has no entropy yet.
pub(crate) struct OsRandom;

impl RandomSource for OsRandom {
    fn fill(&mut self, mut out: &mut [u8]) -> Result<(), RandomError> {
        while !out.is_empty() {
            // SAFETY: `out` is writable for its length.
            let got = unsafe { libc::getrandom(out.as_mut_ptr().cast(), out.len(), 0) };
            match usize::try_from(got) {
                Ok(n) if n > 0 => out = out.get_mut(n..).ok_or(RandomError)?,
                Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                _ => return Err(RandomError),
            }
        }
        Ok(())
    }
}
