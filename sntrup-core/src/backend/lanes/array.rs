//! The lane type as plain loops over arrays, for any processor. Debug builds check that sums and differences fit.

use super::bits::Words;
use super::{Chunk, V16};
use core::array::from_fn;

/// Sixteen lanes in an array.
#[derive(Clone, Copy)]
pub(crate) struct Lanes([i16; 16]);

impl Lanes {
    #[cfg_attr(not(test), inline(always))]
    #[cfg_attr(test, inline(never))]
    fn map2(self, other: Self, f: impl Fn(i16, i16) -> i16) -> Self {
        Self(from_fn(|i| f(self.0[i], other.0[i])))
    }
}

const fn product(a: i16, b: i16) -> i32 {
    a as i32 * b as i32
}

impl V16 for Lanes {
    type Token = ();
    type Wide = [i32; 8];
    type Bits = Words;

    #[cfg_attr(not(test), inline(always))]
    #[cfg_attr(test, inline(never))]
    fn splat((): (), value: i16) -> Self {
        Self([value; 16])
    }
    #[cfg_attr(not(test), inline(always))]
    #[cfg_attr(test, inline(never))]
    fn splat_pair((): (), even: i16, odd: i16) -> Self {
        Self(Chunk::splat_pair(even, odd).0)
    }
    #[cfg_attr(not(test), inline(always))]
    #[cfg_attr(test, inline(never))]
    fn load((): (), from: &Chunk) -> Self {
        Self(from.0)
    }
    #[cfg_attr(not(test), inline(always))]
    #[cfg_attr(test, inline(never))]
    fn load_at((): (), from: &[i16; 16]) -> Self {
        Self(*from)
    }
    #[cfg_attr(not(test), inline(always))]
    #[cfg_attr(test, inline(never))]
    fn store(self, to: &mut Chunk) {
        to.0 = self.0;
    }
    #[cfg_attr(not(test), inline(always))]
    #[cfg_attr(test, inline(never))]
    fn store_at(self, to: &mut [i16; 16]) {
        *to = self.0;
    }
    #[cfg_attr(not(test), inline(always))]
    #[cfg_attr(test, inline(never))]
    fn add(self, other: Self) -> Self {
        self.map2(other, |a, b| {
            debug_assert!(a.checked_add(b).is_some(), "{a} + {b} overflows a lane");
            a.wrapping_add(b)
        })
    }
    #[cfg_attr(not(test), inline(always))]
    #[cfg_attr(test, inline(never))]
    fn sub(self, other: Self) -> Self {
        self.map2(other, |a, b| {
            debug_assert!(a.checked_sub(b).is_some(), "{a} - {b} overflows a lane");
            a.wrapping_sub(b)
        })
    }
    #[cfg_attr(not(test), inline(always))]
    #[cfg_attr(test, inline(never))]
    fn mullo(self, other: Self) -> Self {
        self.map2(other, |a, b| a.wrapping_mul(b))
    }
    #[cfg_attr(not(test), inline(always))]
    #[cfg_attr(test, inline(never))]
    fn mulhi(self, other: Self) -> Self {
        self.map2(other, |a, b| (product(a, b) >> 16) as i16)
    }
    #[cfg_attr(not(test), inline(always))]
    #[cfg_attr(test, inline(never))]
    fn mulhrs(self, (): (), c: i16) -> Self {
        debug_assert!((0..1 << 14).contains(&c), "mulhrs is specified for constants below 2^14 only");
        Self(from_fn(|i| ((product(self.0[i], c) + (1 << 14)) >> 15) as i16))
    }
    #[cfg_attr(not(test), inline(always))]
    #[cfg_attr(test, inline(never))]
    fn greater(self, other: Self) -> Self {
        self.map2(other, |a, b| -i16::from(a > b))
    }
    #[cfg_attr(not(test), inline(always))]
    #[cfg_attr(test, inline(never))]
    fn and(self, other: Self) -> Self {
        self.map2(other, |a, b| a & b)
    }
    #[cfg_attr(not(test), inline(always))]
    #[cfg_attr(test, inline(never))]
    fn blend_odd(self, odd: Self) -> Self {
        Self(from_fn(|i| if i & 1 == 0 { self.0[i] } else { odd.0[i] }))
    }
    #[cfg_attr(not(test), inline(always))]
    #[cfg_attr(test, inline(never))]
    fn swap_pairs(self, (): ()) -> Self {
        Self(from_fn(|i| self.0[i ^ 1]))
    }
    #[cfg_attr(not(test), inline(always))]
    #[cfg_attr(test, inline(never))]
    fn pairs_even(self, other: Self) -> Self {
        Self(from_fn(|i| if i & 1 == 0 { self.0[i] } else { other.0[i - 1] }))
    }
    #[cfg_attr(not(test), inline(always))]
    #[cfg_attr(test, inline(never))]
    fn pairs_odd(self, other: Self) -> Self {
        Self(from_fn(|i| if i & 1 == 0 { self.0[i + 1] } else { other.0[i] }))
    }
    #[cfg_attr(not(test), inline(always))]
    #[cfg_attr(test, inline(never))]
    fn transpose(rows: [Self; 8]) -> [Self; 8] {
        from_fn(|r| Self(from_fn(|i| rows[i >> 1].0[2 * r + (i & 1)])))
    }
    #[cfg_attr(not(test), inline(always))]
    #[cfg_attr(test, inline(never))]
    fn madd(self, other: Self) -> [i32; 8] {
        from_fn(|i| {
            let low = product(self.0[2 * i], other.0[2 * i]);
            low.wrapping_add(product(self.0[2 * i + 1], other.0[2 * i + 1]))
        })
    }
    #[cfg_attr(not(test), inline(always))]
    #[cfg_attr(test, inline(never))]
    fn add_wide(a: [i32; 8], b: [i32; 8]) -> [i32; 8] {
        from_fn(|i| {
            debug_assert!(a[i].checked_add(b[i]).is_some(), "{} + {} overflows a wide lane", a[i], b[i]);
            a[i].wrapping_add(b[i])
        })
    }
    #[cfg_attr(not(test), inline(always))]
    #[cfg_attr(test, inline(never))]
    fn low_halves(even: [i32; 8], odd: [i32; 8]) -> Self {
        Self(from_fn(|i| (if i & 1 == 0 { even } else { odd })[i >> 1] as i16))
    }
    #[cfg_attr(not(test), inline(always))]
    #[cfg_attr(test, inline(never))]
    fn high_halves(even: [i32; 8], odd: [i32; 8]) -> Self {
        Self(from_fn(|i| ((if i & 1 == 0 { even } else { odd })[i >> 1] >> 16) as i16))
    }
    #[cfg_attr(not(test), inline(always))]
    #[cfg_attr(test, inline(never))]
    fn hide<T>((): (), from: &T) -> &T {
        from
    }
}
