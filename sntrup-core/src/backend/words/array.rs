//! The vectors as arrays, for any processor: the oracle of the other forms.

use super::{U32x8, U64x4};

/// [`U64x4`] for every processor.
#[derive(Clone, Copy)]
pub(crate) struct Words64([u64; 4]);

impl Words64 {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        let mut out = self;
        for i in 0..4 {
            out.0[i] = f(self.0[i], other.0[i]);
        }
        out
    }
}

impl U64x4 for Words64 {
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

/// [`U32x8`] for every processor.
#[derive(Clone, Copy)]
pub(crate) struct Words32([u32; 8]);

impl Words32 {
    /// Lane i of the result is lane i ^ `MASK`.
    #[inline(always)]
    fn permute<const MASK: usize>(self) -> Self {
        let mut out = self;
        for i in 0..8 {
            out.0[i] = self.0[i ^ MASK];
        }
        out
    }
}

impl U32x8 for Words32 {
    type Token = ();

    #[inline(always)]
    fn load((): (), a: &[u32; 8]) -> Self {
        Self(*a)
    }
    #[inline(always)]
    fn store(self, a: &mut [u32; 8]) {
        *a = self.0;
    }
    #[inline(always)]
    fn splat((): (), x: u32) -> Self {
        Self([x; 8])
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let mut out = self;
        for i in 0..8 {
            out.0[i] = self.0[i].wrapping_add(other.0[i]);
        }
        out
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        let mut out = self;
        for i in 0..8 {
            out.0[i] ^= other.0[i];
        }
        out
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        let mut out = self;
        for i in 0..8 {
            out.0[i] &= other.0[i];
        }
        out
    }
    #[inline(always)]
    fn rotl<const L: i32, const R: i32>(self) -> Self {
        const { assert!(L + R == 32 && L > 0 && R > 0) };
        let mut out = self;
        for i in 0..8 {
            out.0[i] = self.0[i].rotate_left(L as u32);
        }
        out
    }
    #[inline(always)]
    fn min_max(self, other: Self) -> (Self, Self) {
        let (mut low, mut high) = (self, other);
        for i in 0..8 {
            // Written with a mask, so that no compiler makes a branch of it.
            let (a, b) = (self.0[i], other.0[i]);
            let exchange = (a ^ b) & u32::from(a > b).wrapping_neg();
            low.0[i] = a ^ exchange;
            high.0[i] = b ^ exchange;
        }
        (low, high)
    }
    #[inline(always)]
    fn swap_lanes(self) -> Self {
        self.permute::<1>()
    }
    #[inline(always)]
    fn swap_pairs(self) -> Self {
        self.permute::<2>()
    }
    #[inline(always)]
    fn reverse_halves(self) -> Self {
        self.permute::<3>()
    }
    #[inline(always)]
    fn reverse(self) -> Self {
        self.permute::<7>()
    }
    #[inline(always)]
    fn blend<const MASK: i32>(self, other: Self) -> Self {
        let mut out = self;
        for i in 0..8 {
            if MASK >> i & 1 == 1 {
                out.0[i] = other.0[i];
            }
        }
        out
    }
    #[inline(always)]
    fn transpose(rows: [Self; 8]) -> [Self; 8] {
        let mut out = rows;
        for i in 0..8 {
            for j in 0..8 {
                out[i].0[j] = rows[j].0[i];
            }
        }
        out
    }
}
