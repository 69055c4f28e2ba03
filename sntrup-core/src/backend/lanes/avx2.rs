//! The lane type as one 256-bit register. Besides two slice casts, the only place with vector loads and stores.
#![allow(unsafe_code)]

use super::{Bits, Chunk, Kernel, Level, V16};
use core::arch::x86_64::*;

/// Proof that the processor has AVX2, BMI1, BMI2 and POPCNT and the operating system saves the wide registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2 {
    /// AVX-512VL is there too.
    avx512vl: bool,
}

impl Avx2 {
    /// The token, if processor and operating system support all of them (every processor with AVX2 but a few early ones has BMI).
    pub(crate) fn detect() -> Option<Self> {
        use std::arch::is_x86_feature_detected as has;
        let avx512vl = has!("avx512f") && has!("avx512vl");
        (has!("avx2") && has!("bmi1") && has!("bmi2") && has!("popcnt")).then_some(Self { avx512vl })
    }

    /// Whether 256-bit registers can also be rotated by words and combined by any function of three operands in a single
    /// instruction (AVX-512VL). Kernels that consist of little else are compiled for that as well.
    #[inline(always)]
    pub(crate) fn has_avx512vl(self) -> bool {
        self.avx512vl
    }

    /// The token of the same processor as if it had no more than AVX2.
    #[cfg(test)]
    pub(crate) fn without_avx512vl(self) -> Self {
        Self { avx512vl: false }
    }
}

impl Level for Avx2 {
    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[inline(never)]
        #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
        fn avx2<K: Kernel>(token: Avx2, kernel: K) -> K::Output {
            kernel.run::<Lanes>(token)
        }
        #[inline(never)]
        #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512vl")]
        fn avx2_avx512vl<K: Kernel>(token: Avx2, kernel: K) -> K::Output {
            kernel.run::<Lanes>(token)
        }
        // SAFETY: an `Avx2` exists only where detection has found the instructions, and says if it found AVX-512VL.
        unsafe { if K::LOGIC && self.has_avx512vl() { avx2_avx512vl(self, kernel) } else { avx2(self, kernel) } }
    }
}

/// Sixteen lanes in one register. It exists only where an [`Avx2`] does: every constructor takes one.
#[derive(Clone, Copy)]
pub(crate) struct Lanes(__m256i);

/// Eight 32-bit lanes in one register.
#[derive(Clone, Copy)]
pub(crate) struct WideLanes(__m256i);

/// Wraps intrinsics that only compute. The proof for all of them: a value of `Lanes` or `WideLanes` (or a token) is
/// among the arguments, so the processor has AVX2.
macro_rules! compute {
    ($e:expr) => {
        // SAFETY: see the macro; the intrinsics used touch no memory.
        unsafe { $e }
    };
}

impl V16 for Lanes {
    type Token = Avx2;
    type Wide = WideLanes;
    type Bits = BitLanes;

    #[inline(always)]
    fn splat(_: Avx2, value: i16) -> Self {
        Self(compute!(_mm256_set1_epi16(value)))
    }
    #[inline(always)]
    fn splat_pair(_: Avx2, even: i16, odd: i16) -> Self {
        Self(compute!(_mm256_set1_epi32(i32::from(odd) << 16 | i32::from(even) & 0xffff)))
    }
    #[inline(always)]
    fn load(_: Avx2, from: &Chunk) -> Self {
        // SAFETY: the token proves AVX2; a Chunk is 32 readable bytes aligned to 32.
        Self(unsafe { _mm256_load_si256((&raw const *from).cast()) })
    }
    #[inline(always)]
    fn load_at(_: Avx2, from: &[i16; 16]) -> Self {
        // SAFETY: the token proves AVX2; the array is 32 readable bytes.
        Self(unsafe { _mm256_loadu_si256(from.as_ptr().cast()) })
    }
    #[inline(always)]
    fn store(self, to: &mut Chunk) {
        // SAFETY: `self` proves AVX2; a Chunk is 32 writable bytes aligned to 32.
        unsafe { _mm256_store_si256((&raw mut *to).cast(), self.0) }
    }
    #[inline(always)]
    fn store_at(self, to: &mut [i16; 16]) {
        // SAFETY: `self` proves AVX2; the array is 32 writable bytes.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), self.0) }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(compute!(_mm256_add_epi16(self.0, other.0)))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(compute!(_mm256_sub_epi16(self.0, other.0)))
    }
    #[inline(always)]
    fn mullo(self, other: Self) -> Self {
        Self(compute!(_mm256_mullo_epi16(self.0, other.0)))
    }
    #[inline(always)]
    fn mulhi(self, other: Self) -> Self {
        Self(compute!(_mm256_mulhi_epi16(self.0, other.0)))
    }
    #[inline(always)]
    fn mulhrs(self, _: Avx2, c: i16) -> Self {
        Self(compute!(_mm256_mulhrs_epi16(self.0, _mm256_set1_epi16(c))))
    }
    #[inline(always)]
    fn greater(self, other: Self) -> Self {
        Self(compute!(_mm256_cmpgt_epi16(self.0, other.0)))
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(compute!(_mm256_and_si256(self.0, other.0)))
    }
    #[inline(always)]
    fn blend_odd(self, odd: Self) -> Self {
        Self(compute!(_mm256_blend_epi16::<0xaa>(self.0, odd.0)))
    }
    #[inline(always)]
    fn swap_pairs(self, token: Self::Token) -> Self {
        // Two bytes up, two bytes down, in each half. Hidden, or the compiler splits the shuffle into two.
        const SWAP: Chunk = {
            let (mut swap, mut i) = (Chunk::ZERO, 0);
            while i < 16 {
                let other = ((i as i16 ^ 1) & 7) << 1;
                swap.0[i] = (other + 1) << 8 | other;
                i += 1;
            }
            swap
        };
        let swap = Self::load(token, Self::hide(token, const { &SWAP }));
        Self(compute!(_mm256_shuffle_epi8(self.0, swap.0)))
    }
    #[inline(always)]
    fn pairs_even(self, other: Self) -> Self {
        Self(compute!(_mm256_blend_epi16::<0xaa>(self.0, _mm256_slli_epi32::<16>(other.0))))
    }
    #[inline(always)]
    fn pairs_odd(self, other: Self) -> Self {
        Self(compute!(_mm256_blend_epi16::<0xaa>(_mm256_srli_epi32::<16>(self.0), other.0)))
    }
    #[inline(always)]
    fn transpose(rows: [Self; 8]) -> [Self; 8] {
        let [Self(r0), Self(r1), Self(r2), Self(r3), Self(r4), Self(r5), Self(r6), Self(r7)] = rows;
        compute!({
            let (a0, a1) = (_mm256_unpacklo_epi32(r0, r1), _mm256_unpackhi_epi32(r0, r1));
            let (a2, a3) = (_mm256_unpacklo_epi32(r2, r3), _mm256_unpackhi_epi32(r2, r3));
            let (a4, a5) = (_mm256_unpacklo_epi32(r4, r5), _mm256_unpackhi_epi32(r4, r5));
            let (a6, a7) = (_mm256_unpacklo_epi32(r6, r7), _mm256_unpackhi_epi32(r6, r7));
            let (b0, b1) = (_mm256_unpacklo_epi64(a0, a2), _mm256_unpackhi_epi64(a0, a2));
            let (b2, b3) = (_mm256_unpacklo_epi64(a1, a3), _mm256_unpackhi_epi64(a1, a3));
            let (b4, b5) = (_mm256_unpacklo_epi64(a4, a6), _mm256_unpackhi_epi64(a4, a6));
            let (b6, b7) = (_mm256_unpacklo_epi64(a5, a7), _mm256_unpackhi_epi64(a5, a7));
            [
                Self(_mm256_permute2x128_si256::<0x20>(b0, b4)),
                Self(_mm256_permute2x128_si256::<0x20>(b1, b5)),
                Self(_mm256_permute2x128_si256::<0x20>(b2, b6)),
                Self(_mm256_permute2x128_si256::<0x20>(b3, b7)),
                Self(_mm256_permute2x128_si256::<0x31>(b0, b4)),
                Self(_mm256_permute2x128_si256::<0x31>(b1, b5)),
                Self(_mm256_permute2x128_si256::<0x31>(b2, b6)),
                Self(_mm256_permute2x128_si256::<0x31>(b3, b7)),
            ]
        })
    }
    #[inline(always)]
    fn madd(self, other: Self) -> WideLanes {
        WideLanes(compute!(_mm256_madd_epi16(self.0, other.0)))
    }
    #[inline(always)]
    fn add_wide(a: WideLanes, b: WideLanes) -> WideLanes {
        WideLanes(compute!(_mm256_add_epi32(a.0, b.0)))
    }
    #[inline(always)]
    fn low_halves(even: WideLanes, odd: WideLanes) -> Self {
        Self(compute!(_mm256_blend_epi16::<0xaa>(even.0, _mm256_slli_epi32::<16>(odd.0))))
    }
    #[inline(always)]
    fn high_halves(even: WideLanes, odd: WideLanes) -> Self {
        Self(compute!(_mm256_blend_epi16::<0xaa>(_mm256_srli_epi32::<16>(even.0), odd.0)))
    }
    #[inline(always)]
    #[allow(clippy::pointers_in_nomem_asm_block, reason = "the empty instruction reads nothing")]
    fn hide<T>(_: Avx2, from: &T) -> &T {
        let mut at: *const T = from;
        // SAFETY: the empty instruction leaves the pointer as it is, so it still comes from the live reference `from`.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) at, options(pure, nomem, nostack, preserves_flags));
            &*at
        }
    }
}

/// A string of 256 bits in one register.
#[derive(Clone, Copy)]
pub(crate) struct BitLanes(__m256i);

impl Bits for BitLanes {
    type Token = Avx2;

    #[inline(always)]
    fn splat(_: Avx2, word: u64) -> Self {
        Self(compute!(_mm256_set1_epi64x(word.cast_signed())))
    }
    #[inline(always)]
    fn load(_: Avx2, from: &[u64; 4]) -> Self {
        // SAFETY: the token proves AVX2; the array is 32 readable bytes.
        Self(unsafe { _mm256_loadu_si256(from.as_ptr().cast()) })
    }
    #[inline(always)]
    fn store(self, to: &mut [u64; 4]) {
        // SAFETY: `self` proves AVX2; the array is 32 writable bytes.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), self.0) }
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(compute!(_mm256_and_si256(self.0, other.0)))
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(compute!(_mm256_or_si256(self.0, other.0)))
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(compute!(_mm256_xor_si256(self.0, other.0)))
    }
    #[inline(always)]
    fn up(self) -> Self {
        Self(compute!(_mm256_sllv_epi64(
            _mm256_permute4x64_epi64::<0b10_01_00_11>(self.0),
            _mm256_setr_epi64x(1, 0, 0, 0)
        )))
    }
    #[inline(always)]
    fn down(self) -> Self {
        Self(compute!(_mm256_srlv_epi64(
            _mm256_permute4x64_epi64::<0b00_11_10_01>(self.0),
            _mm256_setr_epi64x(0, 0, 0, 1)
        )))
    }
    #[inline(always)]
    fn first_word(self) -> u64 {
        compute!(_mm_cvtsi128_si64(_mm256_castsi256_si128(self.0))).cast_unsigned()
    }
}
