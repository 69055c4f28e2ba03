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
    is_zero(a.iter().zip(b).fold(0, |sum, (x, y)| sum | (x ^ y)).into())
}

/// Copies `src` over `dst` if `mask` is all ones; leaves `dst` alone if it is zero.
pub(crate) fn replace_bytes(dst: &mut [u8], src: &[u8], mask: u32) {
    debug_assert!(dst.len() == src.len() && (mask == 0 || mask == u32::MAX));
    let mask = black_box(mask) as u8;
    for (d, s) in dst.iter_mut().zip(src) {
        *d ^= mask & (*d ^ *s);
    }
}

/// A value that depends on secrets and becomes public, and why that does no harm. The list is complete: the
/// check of constant time forgets a secret only in [`declassify`] and its kin below, which name the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disclosed {
    /// Whether a g, or the product of all g of a batch, has an inverse modulo 3. What has none is never used, and what
    /// is used is known to have one.
    Invertible,
    /// Whether a small element is divisible by the cubic factor of x^p - x - 1 modulo 3 (sntrup653). What is divisible
    /// is never used, and what is used is known not to be.
    DivisibleByCubic,
    /// Which random bytes are too large to give five trits. They are thrown away; see `sampling::exact`.
    RejectedBytes,
    /// Whether the head of a short element is thrown away; see `sampling::exact`.
    RejectedHead,
    /// Whether two of the numbers that order the tail of a short element are equal, and all are thrown away; see
    /// `sampling::exact`.
    EqualNumbers,
    /// Which random words are too large to be reduced modulo q. They are thrown away; see `sampling::uniform`.
    RejectedWords,
    /// A product with a uniform factor in the field R/q: uniform, and independent of the other factor; see `ring::Folded`.
    Blinded,
    /// Whether two session keys are equal, asked by one who holds both.
    EqualSessionKeys,
}

/// Makes a mask known to the program: a secret becomes a public bit here.
#[inline(always)]
pub(crate) fn declassify(mask: u32, what: Disclosed) -> bool {
    let mut word = [mask];
    declassify_all(&mut word, what);
    word[0] != 0
}

/// Makes bits known to the program.
#[inline(always)]
pub(crate) fn declassify_bits(bits: u64, what: Disclosed) -> u64 {
    let mut word = [bits];
    declassify_all(&mut word, what);
    word[0]
}

/// Makes values known to the program: they may decide on branches and addresses from here on.
#[cfg(not(ct_check))]
#[inline(always)]
pub(crate) fn declassify_all<T: Copy>(_values: &mut [T], _what: Disclosed) {}

#[cfg(ct_check)]
pub(crate) use crate::disclosures::declassify_all;

/// Bit i is set if byte i is below `limit`, for up to 64 bytes.
pub(crate) fn below(bytes: &[u8], limit: u8) -> u64 {
    debug_assert!(bytes.len() <= 64);
    // Bit 8 of the difference is its borrow.
    bytes.iter().rev().fold(0, |bits, &byte| bits << 1 | u64::from(u16::from(byte).wrapping_sub(limit.into()) >> 8 & 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks() {
        for (x, mask) in [(0, u32::MAX), (1, 0), (1 << 31, 0), (u32::MAX, 0)] {
            assert_eq!(is_zero(x), mask);
        }
        assert_eq!(below(&[0, 242, 243, 255, 9], 243), 0b10011);
        assert_eq!(below(&[1; 64], 2), u64::MAX);
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
