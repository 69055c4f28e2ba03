//! Vectors of 64-bit and 32-bit words for hashing, sorting and sampling: what an operation means, and its portable form.
//!
//! A kernel is written once over these traits. The portable vectors are arrays, whose loops the compiler vectorises for whatever
//! the target offers; the AVX2 vectors are in `words_avx2`. Both give the same bits, and the tests hold them to it.

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

/// [`U64x4`] for every processor.
#[derive(Clone, Copy)]
pub(crate) struct PortableU64x4([u64; 4]);

impl PortableU64x4 {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }
}

impl U64x4 for PortableU64x4 {
    type Token = ();

    #[inline(always)]
    fn load((): (), a: &[u64; 4]) -> Self {
        Self(*a)
    }
    #[inline(always)]
    fn splat((): (), x: u64) -> Self {
        Self([x; 4])
    }
    #[inline(always)]
    fn load_be((): (), low: &[u8; 16], high: &[u8; 16]) -> Self {
        let (low, high) = (u128::from_be_bytes(*low), u128::from_be_bytes(*high));
        Self([(low >> 64) as u64, low as u64, (high >> 64) as u64, high as u64])
    }
    #[inline(always)]
    fn to_array(self) -> [u64; 4] {
        self.0
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, u64::wrapping_add)
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self.zip(other, |a, b| a ^ b)
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }
    #[inline(always)]
    fn rotr<const R: i32, const L: i32>(self) -> Self {
        const { assert!(R + L == 64 && R > 0 && L > 0) };
        Self(self.0.map(|x| x.rotate_right(R as u32)))
    }
    #[inline(always)]
    fn rotr8(self) -> Self {
        Self(self.0.map(|x| x.rotate_right(8)))
    }
    #[inline(always)]
    fn shr<const N: i32>(self) -> Self {
        Self(self.0.map(|x| x >> N))
    }
    #[inline(always)]
    fn straddle(self, next: Self) -> Self {
        Self([self.0[1], next.0[0], self.0[3], next.0[2]])
    }
    #[inline(always)]
    fn transpose(rows: [Self; 4]) -> [Self; 4] {
        std::array::from_fn(|i| Self(std::array::from_fn(|j| rows[j].0[i])))
    }
}
