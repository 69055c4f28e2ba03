//! Selection without branches: masks of all zeros or all ones, kept opaque to the compiler so that it cannot turn a
//! selection back into a branch.

use std::hint::black_box;

/// Zero that the compiler does not know. OR it into a computed mask and no optimisation can tell that the mask is 0 or
/// -1. Read it once before a loop: the loop still vectorises.
#[inline(always)]
pub(crate) fn opaque_zero() -> u32 {
    black_box(0)
}

/// All ones if `x` is zero, else zero.
#[inline(always)]
pub(crate) fn is_zero(x: u32) -> u32 {
    black_box(((u64::from(x).wrapping_sub(1)) >> 32) as u32)
}

/// All ones if the strings are equal, else zero; the lengths are public and must be equal.
pub(crate) fn equal(a: &[u8], b: &[u8]) -> u32 {
    debug_assert_eq!(a.len(), b.len());
    is_zero(a.iter().zip(b).fold(0, |sum, (x, y)| sum | u32::from(x ^ y)))
}

/// Copies `src` over `dst` if `mask` is all ones; leaves `dst` alone if it is zero.
pub(crate) fn replace_bytes(dst: &mut [u8], src: &[u8], mask: u32) {
    debug_assert!(dst.len() == src.len() && (mask == 0 || mask == u32::MAX));
    let mask = black_box(mask) as u8;
    for (d, s) in dst.iter_mut().zip(src) {
        *d ^= mask & (*d ^ *s);
    }
}

/// Makes a mask known to the program: a secret becomes a public bit here. The caller says why that does no harm.
#[inline(always)]
pub(crate) fn declassify(mask: u32) -> bool {
    mask != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks() {
        for (x, mask) in [(0, u32::MAX), (1, 0), (1 << 31, 0), (u32::MAX, 0)] {
            assert_eq!(is_zero(x), mask);
        }
        assert_eq!(equal(b"abc", b"abc"), u32::MAX);
        for bit in 0..24 {
            let mut other = *b"abc";
            other[bit >> 3] ^= 1 << (bit & 7);
            assert_eq!(equal(b"abc", &other), 0);
        }
        let mut dst = *b"abc";
        replace_bytes(&mut dst, b"xyz", 0);
        assert_eq!(&dst, b"abc");
        replace_bytes(&mut dst, b"xyz", u32::MAX);
        assert_eq!(&dst, b"xyz");
    }
}
