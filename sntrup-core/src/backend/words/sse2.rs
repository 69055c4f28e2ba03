//! The vectors as SSE2 registers. Every x86-64 processor has SSE2, so this is the portable backend's form there:
//! compilers do not make vectors of the loops over arrays once many of them are inlined into one kernel.

#![allow(unsafe_code)] // intrinsics; the reason that holds for all of them stands at `intrinsics!`

use super::{U16x16, U32x8, U64x4};
use std::arch::x86_64::*;

/// Evaluates SSE2 intrinsics without memory operands.
macro_rules! intrinsics {
    ($e:expr) => {
        // SAFETY: the only condition of these intrinsics is SSE2, which is part of x86-64.
        unsafe { $e }
    };
}

/// Eight 32-bit words in two SSE2 registers.
#[derive(Clone, Copy)]
pub(crate) struct Words32([__m128i; 2]);

/// Applies an operation to both registers.
macro_rules! both {
    (|$x:ident| $e:expr, $a:expr) => {{
        let [low, high] = $a.0;
        let low = {
            let $x = low;
            intrinsics!($e)
        };
        let high = {
            let $x = high;
            intrinsics!($e)
        };
        Self([low, high])
    }};
    (|$x:ident, $y:ident| $e:expr, $a:expr, $b:expr) => {{
        let ([low_a, high_a], [low_b, high_b]) = ($a.0, $b.0);
        let low = {
            let ($x, $y) = (low_a, low_b);
            intrinsics!($e)
        };
        let high = {
            let ($x, $y) = (high_a, high_b);
            intrinsics!($e)
        };
        Self([low, high])
    }};
}

impl U32x8 for Words32 {
    type Token = ();

    #[inline(always)]
    fn load((): (), a: &[u32; 8]) -> Self {
        let start: *const __m128i = a.as_ptr().cast();
        // SAFETY: the reference covers the 32 bytes that the two unaligned loads read.
        Self(unsafe { [_mm_loadu_si128(start), _mm_loadu_si128(start.add(1))] })
    }
    #[inline(always)]
    fn store(self, a: &mut [u32; 8]) {
        let start: *mut __m128i = a.as_mut_ptr().cast();
        // SAFETY: the reference covers the 32 bytes that the two unaligned stores write.
        unsafe {
            _mm_storeu_si128(start, self.0[0]);
            _mm_storeu_si128(start.add(1), self.0[1]);
        }
    }
    #[inline(always)]
    fn splat((): (), x: u32) -> Self {
        Self([intrinsics!(_mm_set1_epi32(x.cast_signed())); 2])
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        both!(|x, y| _mm_add_epi32(x, y), self, other)
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        both!(|x, y| _mm_xor_si128(x, y), self, other)
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        both!(|x, y| _mm_and_si128(x, y), self, other)
    }
    #[inline(always)]
    fn rotl<const L: i32, const R: i32>(self) -> Self {
        const { assert!(L + R == 32 && L > 0 && R > 0) };
        both!(|x| _mm_or_si128(_mm_slli_epi32::<L>(x), _mm_srli_epi32::<R>(x)), self)
    }
    #[inline(always)]
    fn min_max(self, other: Self) -> (Self, Self) {
        // SSE2 compares signed words only; flipping the top bits turns the order of unsigned words into that of signed
        // ones.
        let difference = self.xor(other);
        let exchange = both!(
            |x, y| {
                let top = _mm_set1_epi32(i32::MIN);
                _mm_cmpgt_epi32(_mm_xor_si128(x, top), _mm_xor_si128(y, top))
            },
            self,
            other
        );
        let exchanged = both!(|x, y| _mm_and_si128(x, y), difference, exchange);
        (self.xor(exchanged), other.xor(exchanged))
    }
    #[inline(always)]
    fn swap_lanes(self) -> Self {
        both!(|x| _mm_shuffle_epi32::<0b10_11_00_01>(x), self)
    }
    #[inline(always)]
    fn swap_pairs(self) -> Self {
        both!(|x| _mm_shuffle_epi32::<0b01_00_11_10>(x), self)
    }
    #[inline(always)]
    fn reverse_halves(self) -> Self {
        both!(|x| _mm_shuffle_epi32::<0b00_01_10_11>(x), self)
    }
    #[inline(always)]
    fn reverse(self) -> Self {
        let [low, high] = self.reverse_halves().0;
        Self([high, low])
    }
    #[inline(always)]
    fn blend<const MASK: i32>(self, other: Self) -> Self {
        let mut mask = [0; 8];
        for (i, lane) in mask.iter_mut().enumerate() {
            *lane = (MASK as u32 >> i & 1).wrapping_neg();
        }
        let exchanged = both!(|x, y| _mm_and_si128(x, y), self.xor(other), Self::load((), &mask));
        self.xor(exchanged)
    }
    #[inline(always)]
    fn transpose(rows: [Self; 8]) -> [Self; 8] {
        let mut out = rows;
        for i in 0..2 {
            for j in 0..2 {
                let block = [rows[4 * j].0[i], rows[4 * j + 1].0[i], rows[4 * j + 2].0[i], rows[4 * j + 3].0[i]];
                let block = transpose4(block);
                for k in 0..4 {
                    out[4 * i + k].0[j] = block[k];
                }
            }
        }
        out
    }
}

/// Four 64-bit words in two SSE2 registers.
#[derive(Clone, Copy)]
pub(crate) struct Words64([__m128i; 2]);

impl U64x4 for Words64 {
    type Token = ();

    #[inline(always)]
    fn load((): (), a: &[u64; 4]) -> Self {
        let start: *const __m128i = a.as_ptr().cast();
        // SAFETY: the reference covers the 32 bytes that the two unaligned loads read.
        Self(unsafe { [_mm_loadu_si128(start), _mm_loadu_si128(start.add(1))] })
    }
    #[inline(always)]
    fn splat((): (), x: u64) -> Self {
        Self([intrinsics!(_mm_set1_epi64x(x.cast_signed())); 2])
    }
    #[inline(always)]
    fn load_be((): (), low: &[u8; 16], high: &[u8; 16]) -> Self {
        let (low, high) = (u128::from_be_bytes(*low), u128::from_be_bytes(*high));
        Self::load((), &[(low >> 64) as u64, low as u64, (high >> 64) as u64, high as u64])
    }
    #[inline(always)]
    fn to_array(self) -> [u64; 4] {
        let mut a = [0; 4];
        let start: *mut __m128i = a.as_mut_ptr().cast();
        // SAFETY: the array has the 32 bytes that the two unaligned stores write.
        unsafe {
            _mm_storeu_si128(start, self.0[0]);
            _mm_storeu_si128(start.add(1), self.0[1]);
        }
        a
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        both!(|x, y| _mm_add_epi64(x, y), self, other)
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        both!(|x, y| _mm_xor_si128(x, y), self, other)
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        both!(|x, y| _mm_and_si128(x, y), self, other)
    }
    #[inline(always)]
    fn rotr<const R: i32, const L: i32>(self) -> Self {
        const { assert!(R + L == 64 && R > 0 && L > 0) };
        both!(|x| _mm_or_si128(_mm_srli_epi64::<R>(x), _mm_slli_epi64::<L>(x)), self)
    }
    #[inline(always)]
    fn rotr8(self) -> Self {
        self.rotr::<8, 56>()
    }
    #[inline(always)]
    fn shr<const N: i32>(self) -> Self {
        both!(|x| _mm_srli_epi64::<N>(x), self)
    }
    #[inline(always)]
    fn straddle(self, next: Self) -> Self {
        both!(|x, y| _mm_unpacklo_epi64(_mm_srli_si128::<8>(x), y), self, next)
    }
    #[inline(always)]
    fn transpose([a, b, c, d]: [Self; 4]) -> [Self; 4] {
        let ab = Self::zip(a, b);
        let cd = Self::zip(c, d);
        [[ab[0], cd[0]], [ab[1], cd[1]], [ab[2], cd[2]], [ab[3], cd[3]]].map(Self)
    }
}

impl Words64 {
    /// The pairs of words with the same position in two vectors.
    #[inline(always)]
    fn zip(a: Self, b: Self) -> [__m128i; 4] {
        intrinsics!([
            _mm_unpacklo_epi64(a.0[0], b.0[0]),
            _mm_unpackhi_epi64(a.0[0], b.0[0]),
            _mm_unpacklo_epi64(a.0[1], b.0[1]),
            _mm_unpackhi_epi64(a.0[1], b.0[1]),
        ])
    }
}

/// The 4x4 transpose.
#[inline(always)]
fn transpose4([a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
    intrinsics!({
        let (ab0, ab1) = (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
        let (cd0, cd1) = (_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
        [
            _mm_unpacklo_epi64(ab0, cd0),
            _mm_unpackhi_epi64(ab0, cd0),
            _mm_unpacklo_epi64(ab1, cd1),
            _mm_unpackhi_epi64(ab1, cd1),
        ]
    })
}

/// Sixteen 16-bit words in two SSE2 registers.
#[derive(Clone, Copy)]
pub(crate) struct Words16([__m128i; 2]);

impl U16x16 for Words16 {
    type Token = ();
    type Wide = [__m128i; 2];

    #[inline(always)]
    fn load((): (), a: &[u16; 16]) -> Self {
        let start: *const __m128i = a.as_ptr().cast();
        // SAFETY: the reference covers the 32 bytes that the two unaligned loads read.
        Self(unsafe { [_mm_loadu_si128(start), _mm_loadu_si128(start.add(1))] })
    }
    #[inline(always)]
    fn store(self, a: &mut [u16; 16]) {
        let start: *mut __m128i = a.as_mut_ptr().cast();
        // SAFETY: the reference covers the 32 bytes that the two unaligned stores write.
        unsafe {
            _mm_storeu_si128(start, self.0[0]);
            _mm_storeu_si128(start.add(1), self.0[1]);
        }
    }
    #[inline(always)]
    fn load_signed((): (), a: &[i16; 16]) -> Self {
        let start: *const __m128i = a.as_ptr().cast();
        // SAFETY: the reference covers the 32 bytes that the two unaligned loads read.
        Self(unsafe { [_mm_loadu_si128(start), _mm_loadu_si128(start.add(1))] })
    }
    #[inline(always)]
    fn store_signed(self, a: &mut [i16; 16]) {
        let start: *mut __m128i = a.as_mut_ptr().cast();
        // SAFETY: the reference covers the 32 bytes that the two unaligned stores write.
        unsafe {
            _mm_storeu_si128(start, self.0[0]);
            _mm_storeu_si128(start.add(1), self.0[1]);
        }
    }
    #[inline(always)]
    fn splat((): (), x: u16) -> Self {
        Self([intrinsics!(_mm_set1_epi16(x.cast_signed())); 2])
    }
    #[inline(always)]
    fn load_bytes((): (), a: &[u8; 16]) -> Self {
        // SAFETY: the reference covers the 16 bytes that the unaligned load reads.
        let bytes = unsafe { _mm_loadu_si128(a.as_ptr().cast()) };
        Self(intrinsics!({
            let zero = _mm_setzero_si128();
            [_mm_unpacklo_epi8(bytes, zero), _mm_unpackhi_epi8(bytes, zero)]
        }))
    }
    #[inline(always)]
    fn store_bytes(self, a: &mut [u8; 16]) {
        let bytes = intrinsics!(_mm_packus_epi16(self.0[0], self.0[1]));
        // SAFETY: the reference covers the 16 bytes that the unaligned store writes.
        unsafe { _mm_storeu_si128(a.as_mut_ptr().cast(), bytes) };
    }
    #[inline(always)]
    fn load_le((): (), a: &[u8; 32]) -> Self {
        let start: *const __m128i = a.as_ptr().cast();
        // SAFETY: the reference covers the 32 bytes that the two unaligned loads read.
        Self(unsafe { [_mm_loadu_si128(start), _mm_loadu_si128(start.add(1))] })
    }
    #[inline(always)]
    fn store_le(self, a: &mut [u8; 32]) {
        let start: *mut __m128i = a.as_mut_ptr().cast();
        // SAFETY: the reference covers the 32 bytes that the two unaligned stores write.
        unsafe {
            _mm_storeu_si128(start, self.0[0]);
            _mm_storeu_si128(start.add(1), self.0[1]);
        }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        both!(|x, y| _mm_add_epi16(x, y), self, other)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        both!(|x, y| _mm_sub_epi16(x, y), self, other)
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        both!(|x, y| _mm_and_si128(x, y), self, other)
    }
    #[inline(always)]
    fn mullo(self, other: Self) -> Self {
        both!(|x, y| _mm_mullo_epi16(x, y), self, other)
    }
    #[inline(always)]
    fn mulhi(self, other: Self) -> Self {
        both!(|x, y| _mm_mulhi_epu16(x, y), self, other)
    }
    #[inline(always)]
    fn mulhrs(self, c: Self) -> Self {
        // (x c >> 14, plus 1) >> 1; as c < 2^14 the first shift leaves 16 bits.
        both!(
            |x, c| {
                let (high, low) = (_mm_mulhi_epi16(x, c), _mm_mullo_epi16(x, c));
                let shifted = _mm_or_si128(_mm_slli_epi16::<2>(high), _mm_srli_epi16::<14>(low));
                _mm_srai_epi16::<1>(_mm_add_epi16(shifted, _mm_set1_epi16(1)))
            },
            self,
            c
        )
    }
    #[inline(always)]
    fn greater(self, other: Self) -> Self {
        both!(|x, y| _mm_cmpgt_epi16(x, y), self, other)
    }
    #[inline(always)]
    fn shl(self, n: u32) -> Self {
        both!(|x| _mm_sll_epi16(x, _mm_cvtsi32_si128(n.cast_signed())), self)
    }
    #[inline(always)]
    fn shr(self, n: u32) -> Self {
        both!(|x| _mm_srl_epi16(x, _mm_cvtsi32_si128(n.cast_signed())), self)
    }
    #[inline(always)]
    fn interleave(self, other: Self) -> [Self; 2] {
        let ([a0, a1], [b0, b1]) = (self.0, other.0);
        intrinsics!([
            Self([_mm_unpacklo_epi16(a0, b0), _mm_unpackhi_epi16(a0, b0)]),
            Self([_mm_unpacklo_epi16(a1, b1), _mm_unpackhi_epi16(a1, b1)]),
        ])
    }
    #[inline(always)]
    fn madd(self, other: Self) -> [__m128i; 2] {
        both!(|x, y| _mm_madd_epi16(x, y), self, other).0
    }
    #[inline(always)]
    fn shr_wide([low, high]: [__m128i; 2], n: u32) -> [__m128i; 2] {
        intrinsics!({
            let n = _mm_cvtsi32_si128(n.cast_signed());
            [_mm_srl_epi32(low, n), _mm_srl_epi32(high, n)]
        })
    }
    #[inline(always)]
    fn narrow(low: [__m128i; 2], high: [__m128i; 2]) -> Self {
        Self([narrow(low), narrow(high)])
    }
}

/// The low halves of eight 32-bit words.
#[inline(always)]
fn narrow([low, high]: [__m128i; 2]) -> __m128i {
    intrinsics!({
        // The signed packing of numbers that are sign extensions of their low halves changes nothing.
        let low = _mm_srai_epi32::<16>(_mm_slli_epi32::<16>(low));
        let high = _mm_srai_epi32::<16>(_mm_slli_epi32::<16>(high));
        _mm_packs_epi32(low, high)
    })
}
