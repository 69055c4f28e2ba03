//! Vectors of 64-, 32- and 16-bit words for hashing, sorting, sampling and encoding: what an operation means, and its
//! portable form.
//!
//! A kernel is written once over these traits. The vectors of `array` are plain loops for any processor; those of
//! `sse2` and `avx2` give the same bits, and the tests hold them to it.

pub(crate) mod array;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod sse2;

/// The vectors of the portable backend.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) use array as portable;
#[cfg(target_arch = "x86_64")]
pub(crate) use sse2 as portable;

/// Four 64-bit words. Arithmetic is modulo 2^64; no operation's time depends on values.
pub(crate) trait U64x4: Copy {
    /// What a caller must hold to make a vector.
    type Token: Copy;

    /// The four words of `a`.
    fn load(token: Self::Token, a: &[u64; 4]) -> Self;
    /// `x` in every lane.
    fn splat(token: Self::Token, x: u64) -> Self;
    /// Four big-endian words: two from `low`, two from `high`.
    fn load_be(token: Self::Token, low: &[u8; 16], high: &[u8; 16]) -> Self;
    /// The lanes as an array.
    fn to_array(self) -> [u64; 4];
    /// Lane-wise sum.
    fn add(self, other: Self) -> Self;
    /// Lane-wise exclusive or.
    fn xor(self, other: Self) -> Self;
    /// Lane-wise and.
    fn and(self, other: Self) -> Self;
    /// Lane-wise rotation to the right by `R` bits; `L` must be `64 - R`.
    fn rotr<const R: i32, const L: i32>(self) -> Self;
    /// Lane-wise rotation to the right by eight bits.
    fn rotr8(self) -> Self;
    /// Lane-wise shift to the right by `N` bits.
    fn shr<const N: i32>(self) -> Self;
    /// In each half: the upper word of `self`, then the lower word of `next`.
    fn straddle(self, next: Self) -> Self;
    /// The 4x4 transpose of four vectors.
    fn transpose(rows: [Self; 4]) -> [Self; 4];
}

/// Sixteen 16-bit words. Arithmetic is modulo 2^16 unless said otherwise; no operation's time depends on values.
pub(crate) trait U16x16: Copy {
    /// What a caller must hold to make a vector.
    type Token: Copy;
    /// Eight 32-bit words.
    type Wide: Copy;

    /// The sixteen words of `a`.
    fn load(token: Self::Token, a: &[u16; 16]) -> Self;
    /// Writes the sixteen words to `a`.
    fn store(self, a: &mut [u16; 16]);
    /// The sixteen signed words of `a`.
    fn load_signed(token: Self::Token, a: &[i16; 16]) -> Self;
    /// Writes the sixteen words, as signed ones, to `a`.
    fn store_signed(self, a: &mut [i16; 16]);
    /// `x` in every lane.
    fn splat(token: Self::Token, x: u16) -> Self;
    /// Sixteen bytes, each as a word.
    fn load_bytes(token: Self::Token, a: &[u8; 16]) -> Self;
    /// Writes every word, which must be below 256, as a byte.
    fn store_bytes(self, a: &mut [u8; 16]);
    /// Sixteen little-endian words.
    fn load_le(token: Self::Token, a: &[u8; 32]) -> Self;
    /// Writes every word in little-endian order.
    fn store_le(self, a: &mut [u8; 32]);
    /// Lane-wise sum.
    fn add(self, other: Self) -> Self;
    /// Lane-wise difference.
    fn sub(self, other: Self) -> Self;
    /// Lane-wise and.
    fn and(self, other: Self) -> Self;
    /// Low halves of the lane-wise products.
    fn mullo(self, other: Self) -> Self;
    /// High halves of the lane-wise products of unsigned numbers.
    fn mulhi(self, other: Self) -> Self;
    /// Lane-wise x c / 2^15, rounded to the nearest integer, of signed x and 0 <= c < 2^14.
    fn mulhrs(self, c: Self) -> Self;
    /// All ones in the lanes where `self` > `other` as signed numbers, else zero.
    fn greater(self, other: Self) -> Self;
    /// Lane-wise shift to the left by `n` < 16 bits.
    fn shl(self, n: u32) -> Self;
    /// Lane-wise shift to the right by `n` < 16 bits, filling with zeros.
    fn shr(self, n: u32) -> Self;
    /// The lanes of `self` and `other` in turn: first those of the lower halves, then those of the upper halves.
    fn interleave(self, other: Self) -> [Self; 2];
    /// For each pair of lanes, the sum of the two products of signed numbers.
    fn madd(self, other: Self) -> Self::Wide;
    /// Lane-wise shift of 32-bit words to the right by `n` < 32 bits, filling with zeros.
    fn shr_wide(x: Self::Wide, n: u32) -> Self::Wide;
    /// The low halves of sixteen 32-bit words.
    fn narrow(low: Self::Wide, high: Self::Wide) -> Self;
}

/// Eight 32-bit words. No operation's time depends on values.
pub(crate) trait U32x8: Copy {
    /// What a caller must hold to make a vector.
    type Token: Copy;

    /// The eight words of `a`.
    fn load(token: Self::Token, a: &[u32; 8]) -> Self;
    /// Writes the eight words to `a`.
    fn store(self, a: &mut [u32; 8]);
    /// `x` in every lane.
    fn splat(token: Self::Token, x: u32) -> Self;
    /// Lane-wise sum modulo 2^32.
    fn add(self, other: Self) -> Self;
    /// Lane-wise exclusive or.
    fn xor(self, other: Self) -> Self;
    /// Lane-wise and.
    fn and(self, other: Self) -> Self;
    /// Lane-wise rotation to the left by `L` bits; `R` must be `32 - L`.
    fn rotl<const L: i32, const R: i32>(self) -> Self;
    /// Lane-wise smaller and larger word.
    fn min_max(self, other: Self) -> (Self, Self);
    /// Exchanges the lanes of every pair.
    fn swap_lanes(self) -> Self;
    /// Exchanges the pairs of lanes of every half.
    fn swap_pairs(self) -> Self;
    /// Reverses the lanes of every half.
    fn reverse_halves(self) -> Self;
    /// Reverses all lanes.
    fn reverse(self) -> Self;
    /// Lane i of `other` where bit i of `MASK` is set, of `self` elsewhere.
    fn blend<const MASK: i32>(self, other: Self) -> Self;
    /// The 8x8 transpose of eight vectors.
    fn transpose(rows: [Self; 8]) -> [Self; 8];
}

#[cfg(test)]
mod tests;
