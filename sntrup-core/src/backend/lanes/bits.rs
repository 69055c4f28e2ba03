//! A string of 256 bits in four 64-bit registers, for any processor.

use super::Bits;

/// The four words.
#[derive(Clone, Copy)]
pub(crate) struct Words(u64, u64, u64, u64);

impl Bits for Words {
    type Token = ();

    #[inline(always)]
    fn splat((): (), word: u64) -> Self {
        Self(word, word, word, word)
    }
    #[inline(always)]
    fn load((): (), &[a, b, c, d]: &[u64; 4]) -> Self {
        Self(a, b, c, d)
    }
    #[inline(always)]
    fn store(self, to: &mut [u64; 4]) {
        *to = [self.0, self.1, self.2, self.3];
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0, self.1 & other.1, self.2 & other.2, self.3 & other.3)
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0, self.1 | other.1, self.2 | other.2, self.3 | other.3)
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(self.0 ^ other.0, self.1 ^ other.1, self.2 ^ other.2, self.3 ^ other.3)
    }
    #[inline(always)]
    fn up(self) -> Self {
        Self(self.3 << 1, self.0, self.1, self.2)
    }
    #[inline(always)]
    fn down(self) -> Self {
        Self(self.1, self.2, self.3, self.0 >> 1)
    }
    #[inline(always)]
    fn first_word(self) -> u64 {
        self.0
    }
}
