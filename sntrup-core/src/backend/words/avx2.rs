//! The vectors as AVX2 registers: the only intrinsics that hashing, sorting and sampling reach.

#![allow(unsafe_code)] // intrinsics; the reason that holds for all of them stands at `intrinsics!`

use super::{U16x16, U32x8, U64x4};
pub(crate) use crate::backend::lanes::Avx2;
use std::arch::x86_64::*;

/// Evaluates AVX2 intrinsics without memory operands.
macro_rules! intrinsics {
    ($e:expr) => {
        // SAFETY: the only condition of these intrinsics is that the processor has AVX2. A vector of this module is
        // made with an `Avx2` in hand, and every other operation takes such a vector.
        unsafe { $e }
    };
}

/// Four 64-bit words in one AVX2 register.
#[derive(Clone, Copy)]
pub(crate) struct Words64(__m256i);

impl U64x4 for Words64 {
    type Token = Avx2;

    #[inline(always)]
    fn load(_: Avx2, a: &[u64; 4]) -> Self {
        // SAFETY: AVX2 by the token; the reference covers the 32 bytes that the unaligned load reads.
        Self(unsafe { _mm256_loadu_si256(a.as_ptr().cast()) })
    }
    #[inline(always)]
    fn splat(_: Avx2, x: u64) -> Self {
        Self(intrinsics!(_mm256_set1_epi64x(x.cast_signed())))
    }
    #[inline(always)]
    fn load_be(_: Avx2, low: &[u8; 16], high: &[u8; 16]) -> Self {
        // SAFETY: AVX2 by the token; each reference covers the 16 bytes that its unaligned load reads.
        let words = unsafe { _mm256_loadu2_m128i(high.as_ptr().cast(), low.as_ptr().cast()) };
        Self(intrinsics!(_mm256_shuffle_epi8(
            words,
            _mm256_broadcastsi128_si256(_mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8))
        )))
    }
    #[inline(always)]
    fn to_array(self) -> [u64; 4] {
        let mut a = [0; 4];
        // SAFETY: AVX2 since `self` exists; the array has the 32 bytes that the unaligned store writes.
        unsafe { _mm256_storeu_si256(a.as_mut_ptr().cast(), self.0) };
        a
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(intrinsics!(_mm256_add_epi64(self.0, other.0)))
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(intrinsics!(_mm256_xor_si256(self.0, other.0)))
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(intrinsics!(_mm256_and_si256(self.0, other.0)))
    }
    #[inline(always)]
    fn rotr<const R: i32, const L: i32>(self) -> Self {
        const { assert!(R + L == 64 && R > 0 && L > 0) };
        Self(intrinsics!(_mm256_or_si256(_mm256_srli_epi64::<R>(self.0), _mm256_slli_epi64::<L>(self.0))))
    }
    #[inline(always)]
    fn rotr8(self) -> Self {
        Self(intrinsics!(_mm256_shuffle_epi8(
            self.0,
            _mm256_broadcastsi128_si256(_mm_setr_epi8(1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 15, 8))
        )))
    }
    #[inline(always)]
    fn shr<const N: i32>(self) -> Self {
        Self(intrinsics!(_mm256_srli_epi64::<N>(self.0)))
    }
    #[inline(always)]
    fn straddle(self, next: Self) -> Self {
        Self(intrinsics!(_mm256_alignr_epi8::<8>(next.0, self.0)))
    }
    #[inline(always)]
    fn transpose([a, b, c, d]: [Self; 4]) -> [Self; 4] {
        intrinsics!({
            let (ab_low, ab_high) = (_mm256_unpacklo_epi64(a.0, b.0), _mm256_unpackhi_epi64(a.0, b.0));
            let (cd_low, cd_high) = (_mm256_unpacklo_epi64(c.0, d.0), _mm256_unpackhi_epi64(c.0, d.0));
            [
                Self(_mm256_permute2x128_si256::<0x20>(ab_low, cd_low)),
                Self(_mm256_permute2x128_si256::<0x20>(ab_high, cd_high)),
                Self(_mm256_permute2x128_si256::<0x31>(ab_low, cd_low)),
                Self(_mm256_permute2x128_si256::<0x31>(ab_high, cd_high)),
            ]
        })
    }
}

/// Eight 32-bit words in one AVX2 register.
#[derive(Clone, Copy)]
pub(crate) struct Words32(__m256i);

impl U32x8 for Words32 {
    type Token = Avx2;

    #[inline(always)]
    fn load(_: Avx2, a: &[u32; 8]) -> Self {
        // SAFETY: AVX2 by the token; the reference covers the 32 bytes that the unaligned load reads.
        Self(unsafe { _mm256_loadu_si256(a.as_ptr().cast()) })
    }
    #[inline(always)]
    fn store(self, a: &mut [u32; 8]) {
        // SAFETY: AVX2 since `self` exists; the reference covers the 32 bytes that the unaligned store writes.
        unsafe { _mm256_storeu_si256(a.as_mut_ptr().cast(), self.0) };
    }
    #[inline(always)]
    fn splat(_: Avx2, x: u32) -> Self {
        Self(intrinsics!(_mm256_set1_epi32(x.cast_signed())))
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(intrinsics!(_mm256_add_epi32(self.0, other.0)))
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(intrinsics!(_mm256_xor_si256(self.0, other.0)))
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(intrinsics!(_mm256_and_si256(self.0, other.0)))
    }
    #[inline(always)]
    fn rotl<const L: i32, const R: i32>(self) -> Self {
        const { assert!(L + R == 32 && L > 0 && R > 0) };
        Self(intrinsics!(match L {
            // Whole bytes: one shuffle.
            16 => _mm256_shuffle_epi8(
                self.0,
                _mm256_broadcastsi128_si256(_mm_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13))
            ),
            8 => _mm256_shuffle_epi8(
                self.0,
                _mm256_broadcastsi128_si256(_mm_setr_epi8(3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14))
            ),
            _ => _mm256_or_si256(_mm256_slli_epi32::<L>(self.0), _mm256_srli_epi32::<R>(self.0)),
        }))
    }
    #[inline(always)]
    fn min_max(self, other: Self) -> (Self, Self) {
        (Self(intrinsics!(_mm256_min_epu32(self.0, other.0))), Self(intrinsics!(_mm256_max_epu32(self.0, other.0))))
    }
    #[inline(always)]
    fn swap_lanes(self) -> Self {
        Self(intrinsics!(_mm256_shuffle_epi32::<0b10_11_00_01>(self.0)))
    }
    #[inline(always)]
    fn swap_pairs(self) -> Self {
        Self(intrinsics!(_mm256_shuffle_epi32::<0b01_00_11_10>(self.0)))
    }
    #[inline(always)]
    fn reverse_halves(self) -> Self {
        Self(intrinsics!(_mm256_shuffle_epi32::<0b00_01_10_11>(self.0)))
    }
    #[inline(always)]
    fn reverse(self) -> Self {
        Self(intrinsics!(_mm256_permute4x64_epi64::<0b01_00_11_10>(self.reverse_halves().0)))
    }
    #[inline(always)]
    fn blend<const MASK: i32>(self, other: Self) -> Self {
        Self(intrinsics!(_mm256_blend_epi32::<MASK>(self.0, other.0)))
    }
    #[inline(always)]
    fn transpose(rows: [Self; 8]) -> [Self; 8] {
        intrinsics!({
            // In 2x2 blocks of words, then of pairs, then of halves.
            let [a, b, c, d, e, f, g, h] = rows.map(|row| row.0);
            let (ab0, ab1) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
            let (cd0, cd1) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
            let (ef0, ef1) = (_mm256_unpacklo_epi32(e, f), _mm256_unpackhi_epi32(e, f));
            let (gh0, gh1) = (_mm256_unpacklo_epi32(g, h), _mm256_unpackhi_epi32(g, h));
            let (ad0, ad1) = (_mm256_unpacklo_epi64(ab0, cd0), _mm256_unpackhi_epi64(ab0, cd0));
            let (ad2, ad3) = (_mm256_unpacklo_epi64(ab1, cd1), _mm256_unpackhi_epi64(ab1, cd1));
            let (eh0, eh1) = (_mm256_unpacklo_epi64(ef0, gh0), _mm256_unpackhi_epi64(ef0, gh0));
            let (eh2, eh3) = (_mm256_unpacklo_epi64(ef1, gh1), _mm256_unpackhi_epi64(ef1, gh1));
            [
                Self(_mm256_permute2x128_si256::<0x20>(ad0, eh0)),
                Self(_mm256_permute2x128_si256::<0x20>(ad1, eh1)),
                Self(_mm256_permute2x128_si256::<0x20>(ad2, eh2)),
                Self(_mm256_permute2x128_si256::<0x20>(ad3, eh3)),
                Self(_mm256_permute2x128_si256::<0x31>(ad0, eh0)),
                Self(_mm256_permute2x128_si256::<0x31>(ad1, eh1)),
                Self(_mm256_permute2x128_si256::<0x31>(ad2, eh2)),
                Self(_mm256_permute2x128_si256::<0x31>(ad3, eh3)),
            ]
        })
    }
}

/// Sixteen 16-bit words in one AVX2 register.
#[derive(Clone, Copy)]
pub(crate) struct Words16(__m256i);

/// Eight 32-bit words that come from sixteen 16-bit ones.
#[derive(Clone, Copy)]
pub(crate) struct Wide(__m256i);

impl U16x16 for Words16 {
    type Token = Avx2;
    type Wide = Wide;

    #[inline(always)]
    fn load(_: Avx2, a: &[u16; 16]) -> Self {
        // SAFETY: AVX2 by the token; the reference covers the 32 bytes that the unaligned load reads.
        Self(unsafe { _mm256_loadu_si256(a.as_ptr().cast()) })
    }
    #[inline(always)]
    fn store(self, a: &mut [u16; 16]) {
        // SAFETY: AVX2 since `self` exists; the reference covers the 32 bytes that the unaligned store writes.
        unsafe { _mm256_storeu_si256(a.as_mut_ptr().cast(), self.0) };
    }
    #[inline(always)]
    fn load_signed(_: Avx2, a: &[i16; 16]) -> Self {
        // SAFETY: AVX2 by the token; the reference covers the 32 bytes that the unaligned load reads.
        Self(unsafe { _mm256_loadu_si256(a.as_ptr().cast()) })
    }
    #[inline(always)]
    fn store_signed(self, a: &mut [i16; 16]) {
        // SAFETY: AVX2 since `self` exists; the reference covers the 32 bytes that the unaligned store writes.
        unsafe { _mm256_storeu_si256(a.as_mut_ptr().cast(), self.0) };
    }
    #[inline(always)]
    fn splat(_: Avx2, x: u16) -> Self {
        Self(intrinsics!(_mm256_set1_epi16(x.cast_signed())))
    }
    #[inline(always)]
    fn load_bytes(_: Avx2, a: &[u8; 16]) -> Self {
        // SAFETY: AVX2 by the token; the reference covers the 16 bytes that the unaligned load reads.
        let bytes = unsafe { _mm_loadu_si128(a.as_ptr().cast()) };
        Self(intrinsics!(_mm256_cvtepu8_epi16(bytes)))
    }
    #[inline(always)]
    fn store_bytes(self, a: &mut [u8; 16]) {
        let bytes =
            intrinsics!(_mm_packus_epi16(_mm256_castsi256_si128(self.0), _mm256_extracti128_si256::<1>(self.0)));
        // SAFETY: the reference covers the 16 bytes that the unaligned store writes.
        unsafe { _mm_storeu_si128(a.as_mut_ptr().cast(), bytes) };
    }
    #[inline(always)]
    fn load_le(_: Avx2, a: &[u8; 32]) -> Self {
        // SAFETY: AVX2 by the token; the reference covers the 32 bytes that the unaligned load reads.
        Self(unsafe { _mm256_loadu_si256(a.as_ptr().cast()) })
    }
    #[inline(always)]
    fn store_le(self, a: &mut [u8; 32]) {
        // SAFETY: AVX2 since `self` exists; the reference covers the 32 bytes that the unaligned store writes.
        unsafe { _mm256_storeu_si256(a.as_mut_ptr().cast(), self.0) };
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(intrinsics!(_mm256_add_epi16(self.0, other.0)))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(intrinsics!(_mm256_sub_epi16(self.0, other.0)))
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(intrinsics!(_mm256_and_si256(self.0, other.0)))
    }
    #[inline(always)]
    fn mullo(self, other: Self) -> Self {
        Self(intrinsics!(_mm256_mullo_epi16(self.0, other.0)))
    }
    #[inline(always)]
    fn mulhi(self, other: Self) -> Self {
        Self(intrinsics!(_mm256_mulhi_epu16(self.0, other.0)))
    }
    #[inline(always)]
    fn mulhrs(self, c: Self) -> Self {
        Self(intrinsics!(_mm256_mulhrs_epi16(self.0, c.0)))
    }
    #[inline(always)]
    fn greater(self, other: Self) -> Self {
        Self(intrinsics!(_mm256_cmpgt_epi16(self.0, other.0)))
    }
    #[inline(always)]
    fn shl(self, n: u32) -> Self {
        Self(intrinsics!(_mm256_sll_epi16(self.0, _mm_cvtsi32_si128(n.cast_signed()))))
    }
    #[inline(always)]
    fn shr(self, n: u32) -> Self {
        Self(intrinsics!(_mm256_srl_epi16(self.0, _mm_cvtsi32_si128(n.cast_signed()))))
    }
    #[inline(always)]
    fn interleave(self, other: Self) -> [Self; 2] {
        intrinsics!({
            let (a, b) = (_mm256_unpacklo_epi16(self.0, other.0), _mm256_unpackhi_epi16(self.0, other.0));
            [Self(_mm256_permute2x128_si256::<0x20>(a, b)), Self(_mm256_permute2x128_si256::<0x31>(a, b))]
        })
    }
    #[inline(always)]
    fn madd(self, other: Self) -> Wide {
        Wide(intrinsics!(_mm256_madd_epi16(self.0, other.0)))
    }
    #[inline(always)]
    fn shr_wide(x: Wide, n: u32) -> Wide {
        Wide(intrinsics!(_mm256_srl_epi32(x.0, _mm_cvtsi32_si128(n.cast_signed()))))
    }
    #[inline(always)]
    fn narrow(low: Wide, high: Wide) -> Self {
        Self(intrinsics!({
            let mask = _mm256_set1_epi32(0xffff);
            // Packing works within halves: it gives the four quarters in the order 0, 2, 1, 3.
            let quarters = _mm256_packus_epi32(_mm256_and_si256(low.0, mask), _mm256_and_si256(high.0, mask));
            _mm256_permute4x64_epi64::<0b11_01_10_00>(quarters)
        }))
    }
}
