//! The lane type as two 128-bit registers of the x86-64 baseline. Compilers do not turn the array type's loops into
//! vectors once many of them are inlined into one kernel, so the baseline gets its vectors spelled out.
#![allow(unsafe_code)]

use super::bits::Words;
use super::{Chunk, V16};
use core::arch::x86_64::*;

/// Sixteen lanes: low eight, high eight.
#[derive(Clone, Copy)]
pub(crate) struct Lanes(__m128i, __m128i);

impl Lanes {
    #[inline(always)]
    fn map2(self, other: Self, f: impl Fn(__m128i, __m128i) -> __m128i) -> Self {
        Self(f(self.0, other.0), f(self.1, other.1))
    }
}

/// Wraps intrinsics that only compute. The proof for all of them: the target has SSE2, or this module does not compile.
macro_rules! compute {
    ($e:expr) => {
        // SAFETY: see the macro; the intrinsics used touch no memory.
        unsafe { $e }
    };
}

#[cfg(not(target_feature = "sse2"))]
compile_error!("x86-64 without SSE2 is not supported");

/// Even 16-bit lanes of `even`, odd ones of `odd`.
#[inline(always)]
fn select(even: __m128i, odd: __m128i) -> __m128i {
    compute!({
        let mask = _mm_set1_epi32(0xffff);
        _mm_or_si128(_mm_and_si128(mask, even), _mm_andnot_si128(mask, odd))
    })
}

#[inline(always)]
fn pairs_even(a: __m128i, b: __m128i) -> __m128i {
    compute!(_mm_or_si128(_mm_and_si128(_mm_set1_epi32(0xffff), a), _mm_slli_epi32::<16>(b)))
}

#[inline(always)]
fn pairs_odd(a: __m128i, b: __m128i) -> __m128i {
    compute!(_mm_or_si128(_mm_srli_epi32::<16>(a), _mm_andnot_si128(_mm_set1_epi32(0xffff), b)))
}

/// Transposes a 4×4 matrix of 32-bit entries.
#[inline(always)]
fn transpose4(r: [__m128i; 4]) -> [__m128i; 4] {
    compute!({
        let (a, b) = (_mm_unpacklo_epi32(r[0], r[1]), _mm_unpackhi_epi32(r[0], r[1]));
        let (c, d) = (_mm_unpacklo_epi32(r[2], r[3]), _mm_unpackhi_epi32(r[2], r[3]));
        [_mm_unpacklo_epi64(a, c), _mm_unpackhi_epi64(a, c), _mm_unpacklo_epi64(b, d), _mm_unpackhi_epi64(b, d)]
    })
}

impl V16 for Lanes {
    type Token = ();
    type Wide = Self;
    type Bits = Words;

    #[inline(always)]
    fn splat((): (), value: i16) -> Self {
        let half = compute!(_mm_set1_epi16(value));
        Self(half, half)
    }
    #[inline(always)]
    fn splat_pair((): (), even: i16, odd: i16) -> Self {
        let half = compute!(_mm_set1_epi32(i32::from(odd) << 16 | i32::from(even) & 0xffff));
        Self(half, half)
    }
    #[inline(always)]
    fn load((): (), from: &Chunk) -> Self {
        let at = (&raw const *from).cast::<__m128i>();
        // SAFETY: a Chunk is 32 readable bytes aligned to 32: two aligned 16-byte loads.
        unsafe { Self(_mm_load_si128(at), _mm_load_si128(at.add(1))) }
    }
    #[inline(always)]
    fn load_at((): (), from: &[i16; 16]) -> Self {
        let at = from.as_ptr().cast::<__m128i>();
        // SAFETY: the array is 32 readable bytes; the loads need no alignment.
        unsafe { Self(_mm_loadu_si128(at), _mm_loadu_si128(at.add(1))) }
    }
    #[inline(always)]
    fn store(self, to: &mut Chunk) {
        let at = (&raw mut *to).cast::<__m128i>();
        // SAFETY: a Chunk is 32 writable bytes aligned to 32: two aligned 16-byte stores.
        unsafe {
            _mm_store_si128(at, self.0);
            _mm_store_si128(at.add(1), self.1);
        }
    }
    #[inline(always)]
    fn store_at(self, to: &mut [i16; 16]) {
        let at = to.as_mut_ptr().cast::<__m128i>();
        // SAFETY: the array is 32 writable bytes; the stores need no alignment.
        unsafe {
            _mm_storeu_si128(at, self.0);
            _mm_storeu_si128(at.add(1), self.1);
        }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.map2(other, |a, b| compute!(_mm_add_epi16(a, b)))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.map2(other, |a, b| compute!(_mm_sub_epi16(a, b)))
    }
    #[inline(always)]
    fn mullo(self, other: Self) -> Self {
        self.map2(other, |a, b| compute!(_mm_mullo_epi16(a, b)))
    }
    #[inline(always)]
    fn mulhi(self, other: Self) -> Self {
        self.map2(other, |a, b| compute!(_mm_mulhi_epi16(a, b)))
    }
    #[inline(always)]
    fn mulhrs(self, (): (), c: i16) -> Self {
        // Two bits more than the integer part are enough to round: ⌊x·c / 2¹⁴⌋, plus one, halved.
        let quarters = if c < 1 << 13 {
            self.mulhi(Self::splat((), 4 * c))
        } else {
            // The product is high·2¹⁶ + low; with c < 2¹⁴ this fits a lane.
            self.map2(Self::splat((), c), |x, c| {
                compute!({
                    let high = _mm_slli_epi16::<2>(_mm_mulhi_epi16(x, c));
                    _mm_add_epi16(high, _mm_srli_epi16::<14>(_mm_mullo_epi16(x, c)))
                })
            })
        };
        quarters.map2(Self::splat((), 1), |x, one| compute!(_mm_srai_epi16::<1>(_mm_add_epi16(x, one))))
    }
    #[inline(always)]
    fn greater(self, other: Self) -> Self {
        self.map2(other, |a, b| compute!(_mm_cmpgt_epi16(a, b)))
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self.map2(other, |a, b| compute!(_mm_and_si128(a, b)))
    }
    #[inline(always)]
    fn blend_odd(self, odd: Self) -> Self {
        self.map2(odd, select)
    }
    #[inline(always)]
    fn swap_pairs(self, (): ()) -> Self {
        let swap = |x| compute!(_mm_shufflehi_epi16::<0b10_11_00_01>(_mm_shufflelo_epi16::<0b10_11_00_01>(x)));
        Self(swap(self.0), swap(self.1))
    }
    #[inline(always)]
    fn pairs_even(self, other: Self) -> Self {
        self.map2(other, pairs_even)
    }
    #[inline(always)]
    fn pairs_odd(self, other: Self) -> Self {
        self.map2(other, pairs_odd)
    }
    #[inline(always)]
    fn transpose(rows: [Self; 8]) -> [Self; 8] {
        let [r0, r1, r2, r3, r4, r5, r6, r7] = rows;
        let [a0, a1, a2, a3] = transpose4([r0.0, r1.0, r2.0, r3.0]);
        let [b0, b1, b2, b3] = transpose4([r4.0, r5.0, r6.0, r7.0]);
        let [a4, a5, a6, a7] = transpose4([r0.1, r1.1, r2.1, r3.1]);
        let [b4, b5, b6, b7] = transpose4([r4.1, r5.1, r6.1, r7.1]);
        [Self(a0, b0), Self(a1, b1), Self(a2, b2), Self(a3, b3), Self(a4, b4), Self(a5, b5), Self(a6, b6), Self(a7, b7)]
    }
    #[inline(always)]
    fn madd(self, other: Self) -> Self {
        self.map2(other, |a, b| compute!(_mm_madd_epi16(a, b)))
    }
    #[inline(always)]
    fn add_wide(a: Self, b: Self) -> Self {
        a.map2(b, |a, b| compute!(_mm_add_epi32(a, b)))
    }
    #[inline(always)]
    fn low_halves(even: Self, odd: Self) -> Self {
        even.map2(odd, pairs_even)
    }
    #[inline(always)]
    fn high_halves(even: Self, odd: Self) -> Self {
        even.map2(odd, pairs_odd)
    }
    #[inline(always)]
    #[allow(clippy::pointers_in_nomem_asm_block, reason = "the empty instruction reads nothing")]
    fn hide<T>((): (), from: &T) -> &T {
        let mut at: *const T = from;
        // SAFETY: the empty instruction leaves the pointer as it is, so it still comes from the live reference `from`.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) at, options(pure, nomem, nostack, preserves_flags));
            &*at
        }
    }
}
