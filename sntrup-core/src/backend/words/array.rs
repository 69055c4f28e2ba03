//! The vectors as arrays, for any processor: the oracle of the other forms.

#![allow(clippy::needless_range_loop, reason = "lanes are numbered")]

use super::{U16x16, U32x8, U64x4};

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

/// Sixteen 16-bit words.
#[derive(Clone, Copy)]
pub(crate) struct Words16([u16; 16]);

impl Words16 {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(u16, u16) -> u16) -> Self {
        let mut out = self;
        for i in 0..16 {
            out.0[i] = f(self.0[i], other.0[i]);
        }
        out
    }
}

impl U16x16 for Words16 {
    type Token = ();
    type Wide = [u32; 8];

    #[inline(always)]
    fn load((): (), a: &[u16; 16]) -> Self {
        Self(*a)
    }
    #[inline(always)]
    fn store(self, a: &mut [u16; 16]) {
        *a = self.0;
    }
    #[inline(always)]
    fn load_signed((): (), a: &[i16; 16]) -> Self {
        Self(a.map(i16::cast_unsigned))
    }
    #[inline(always)]
    fn store_signed(self, a: &mut [i16; 16]) {
        *a = self.0.map(u16::cast_signed);
    }
    #[inline(always)]
    fn splat((): (), x: u16) -> Self {
        Self([x; 16])
    }
    #[inline(always)]
    fn load_bytes((): (), a: &[u8; 16]) -> Self {
        Self(a.map(u16::from))
    }
    #[inline(always)]
    fn store_bytes(self, a: &mut [u8; 16]) {
        debug_assert!(self.0.iter().all(|&x| x < 256), "a word is no byte");
        *a = self.0.map(|x| x as u8);
    }
    #[inline(always)]
    fn load_le((): (), a: &[u8; 32]) -> Self {
        let mut out = Self([0; 16]);
        for i in 0..16 {
            out.0[i] = u16::from_le_bytes([a[2 * i], a[2 * i + 1]]);
        }
        out
    }
    #[inline(always)]
    fn store_le(self, a: &mut [u8; 32]) {
        for i in 0..16 {
            [a[2 * i], a[2 * i + 1]] = self.0[i].to_le_bytes();
        }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, u16::wrapping_add)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, u16::wrapping_sub)
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }
    #[inline(always)]
    fn mullo(self, other: Self) -> Self {
        self.zip(other, u16::wrapping_mul)
    }
    #[inline(always)]
    fn mulhi(self, other: Self) -> Self {
        self.zip(other, |a, b| ((u32::from(a) * u32::from(b)) >> 16) as u16)
    }
    #[inline(always)]
    fn mulhrs(self, c: Self) -> Self {
        self.zip(c, |x, c| {
            debug_assert!(c < 1 << 14, "the constant is too large");
            ((i32::from(x.cast_signed()) * i32::from(c) + (1 << 14)) >> 15) as u16
        })
    }
    #[inline(always)]
    fn greater(self, other: Self) -> Self {
        self.zip(other, |a, b| u16::from(a.cast_signed() > b.cast_signed()).wrapping_neg())
    }
    #[inline(always)]
    fn shl(self, n: u32) -> Self {
        Self(self.0.map(|x| x << n))
    }
    #[inline(always)]
    fn shr(self, n: u32) -> Self {
        Self(self.0.map(|x| x >> n))
    }
    #[inline(always)]
    fn interleave(self, other: Self) -> [Self; 2] {
        let mut out = [self; 2];
        for i in 0..8 {
            for half in 0..2 {
                out[half].0[2 * i] = self.0[8 * half + i];
                out[half].0[2 * i + 1] = other.0[8 * half + i];
            }
        }
        out
    }
    #[inline(always)]
    fn madd(self, other: Self) -> [u32; 8] {
        let product = |i: usize| i32::from(self.0[i].cast_signed()) * i32::from(other.0[i].cast_signed());
        let mut out = [0; 8];
        for i in 0..8 {
            out[i] = product(2 * i).wrapping_add(product(2 * i + 1)).cast_unsigned();
        }
        out
    }
    #[inline(always)]
    fn shr_wide(x: [u32; 8], n: u32) -> [u32; 8] {
        x.map(|x| x >> n)
    }
    #[inline(always)]
    fn narrow(low: [u32; 8], high: [u32; 8]) -> Self {
        let mut out = Self([0; 16]);
        for i in 0..8 {
            (out.0[i], out.0[8 + i]) = (low[i] as u16, high[i] as u16);
        }
        out
    }
}
