//! What the fuzzing targets share: how an input becomes a damaged key, and the engine linked into the program.

pub mod openssl;

use sntrup_core::{RandomError, RandomSource};

/// A repeatable random source (xorshift).
pub struct Noise(pub u64);

impl RandomSource for Noise {
    fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
        for byte in out {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            *byte = (self.0 >> 32) as u8;
        }
        Ok(())
    }
}

/// A string that is well-formed but for some damage, or one of the input's own.
///
/// Without `edits` it is the input itself. With them the input is a list of changes to `whole`, each of three bytes: a position
/// (big-endian, modulo the length) and what to add there modulo 2. So small inputs reach deep, and corpora stay small.
#[must_use]
pub fn damaged(whole: &[u8], edits: bool, input: &[u8]) -> Vec<u8> {
    if !edits {
        return input.to_vec();
    }
    let mut bytes = whole.to_vec();
    for edit in input.chunks_exact(3) {
        let position = usize::from(u16::from_be_bytes([edit[0], edit[1]])) % bytes.len();
        bytes[position] ^= edit[2];
    }
    bytes
}

/// The input with zeros behind it, or cut off, so that it has this length.
#[must_use]
pub fn resized(mut bytes: Vec<u8>, length: usize) -> Vec<u8> {
    bytes.resize(length, 0);
    bytes
}
