//! AVX2 forms of the vectors of `words`: the only intrinsics that hashing, sorting and sampling reach.

#![allow(unsafe_code)] // intrinsics; the reason that holds for all of them stands at `intrinsics!`

use super::lanes::Avx2;
use super::words::U64x4;
use std::arch::x86_64::*;

/// Evaluates AVX2 intrinsics without memory operands.
macro_rules! intrinsics {
    ($e:expr) => {
        // SAFETY: the only condition of these intrinsics is that the processor has AVX2. A vector of this module is made with an
        // `Avx2` in hand, and every other operation takes such a vector.
        unsafe { $e }
    };
}

/// Four 64-bit words in one AVX2 register.
#[derive(Clone, Copy)]
pub(crate) struct Avx2U64x4(__m256i);

impl U64x4 for Avx2U64x4 {
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
