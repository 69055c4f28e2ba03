//! The kernels of the exact samplers for batches; `sampling::exact` says why they are exact.

#[cfg(not(target_arch = "x86_64"))]
use super::lanes::array as portable_lanes;
#[cfg(target_arch = "x86_64")]
use super::lanes::sse2 as portable_lanes;
use super::lanes::{Chunk, V16};
use super::words::{U32x8, portable};
#[cfg(target_arch = "x86_64")]
use super::{entry::avx2_kernel, lanes, words::avx2};
#[cfg(target_arch = "x86_64")]
use crate::backend::lanes::Avx2;

use std::hint::black_box;

/// Number of positions of a short element that are drawn by sorting.
pub(crate) const TAIL: usize = 64;
/// A 31-bit random number and a tag in the lowest bit, for each position of the tail (rows) and each of eight elements
/// (lanes).
pub(crate) type Tails = [[u32; 8]; TAIL];

/// Turns bytes, which must be below 243, into trits less 1: trit k (the coefficient of 3^k) of byte i becomes `out` at
/// position k * 16 * `bytes.len()` + i. `out` may end before the last trits do.
pub(crate) fn trits_portable(bytes: &mut [[i16; 16]], out: &mut [[i16; 16]]) {
    trits::<portable_lanes::Lanes>((), bytes, out);
}

/// Writes, for every bit of `nonzero` (least significant first), 0 where it is clear, and else 1, or -1 where the bit
/// of `negative` at the same place is set. `out` takes sixteen bits in each row.
pub(crate) fn expand_portable(nonzero: &[u64], negative: &[u64], out: &mut [[i16; 16]]) {
    expand::<portable_lanes::Lanes>((), nonzero, negative, out);
}

/// How the head of a short element is drawn; see `sampling::exact`.
pub(crate) struct Trial {
    /// Positions of the head.
    pub(crate) positions: usize,
    /// Random bits for each position: it is chosen if the first is clear and the others are not all set.
    pub(crate) planes: usize,
    /// Weight of the whole element.
    pub(crate) weight: u32,
    /// For each weight of the tail, the number of 63-bit numbers that accept it.
    pub(crate) acceptance: [u64; TAIL + 1],
}

/// Chooses the positions of a head, one bit for each, by `planes` random words for every 64 positions. Returns the
/// weight that is left for the tail, and all ones if that and the upper 63 bits of `choice` accept the head, else
/// zero.
pub(crate) fn head_portable(trial: &Trial, random: &[u64], choice: u64, chosen: &mut [u64]) -> (u32, u32) {
    head(trial, random, choice, chosen)
}

/// Sorts each lane by the upper 31 bits and returns, for each, the tags in that order, the first in the lowest bit.
/// The second result is not zero exactly if two of the 31-bit numbers in one lane are equal.
pub(crate) fn sort_tails_portable(tails: &mut Tails) -> ([u64; 8], u32) {
    sort_tails::<portable::Words32>((), tails)
}

#[cfg(target_arch = "x86_64")]
avx2_kernel! {
    /// [`trits_portable`] with AVX2.
    pub(crate) fn trits_avx2(token: Avx2, bytes: &mut [[i16; 16]], out: &mut [[i16; 16]]) {
        trits::<lanes::avx2::Lanes>(token, bytes, out);
    }
}

#[cfg(target_arch = "x86_64")]
avx2_kernel! {
    /// [`expand_portable`] with AVX2.
    pub(crate) fn expand_avx2(token: Avx2, nonzero: &[u64], negative: &[u64], out: &mut [[i16; 16]]) {
        expand::<lanes::avx2::Lanes>(token, nonzero, negative, out);
    }
}

#[cfg(target_arch = "x86_64")]
avx2_kernel! {
    /// [`head_portable`] with AVX2.
    pub(crate) fn head_avx2(
        _token: Avx2,
        trial: &Trial,
        random: &[u64],
        choice: u64,
        chosen: &mut [u64],
    ) -> (u32, u32) {
        head(trial, random, choice, chosen)
    }
}

#[cfg(target_arch = "x86_64")]
avx2_kernel! {
    /// [`sort_tails_portable`] with AVX2.
    pub(crate) fn sort_tails_avx2(token: Avx2, tails: &mut Tails) -> ([u64; 8], u32) {
        sort_tails::<avx2::Words32>(token, tails)
    }
}

#[inline(always)]
fn trits<V: V16>(token: V::Token, bytes: &mut [[i16; 16]], out: &mut [[i16; 16]]) {
    // ceil(2^16 / 3): exact quotients for every x below 2^15.
    let third = V::splat(token, 21846);
    let one = V::splat(token, 1);
    let stride = bytes.len();
    for (k, part) in out.chunks_mut(stride).enumerate() {
        debug_assert!(k < 5, "a byte below 243 has five trits");
        for (byte, out) in bytes.iter_mut().zip(part) {
            let x = V::load_at(token, byte);
            let quotient = x.mulhi(third);
            x.sub(quotient.add(quotient).add(quotient)).sub(one).store_at(out);
            quotient.store_at(byte);
        }
    }
}

#[inline(always)]
fn expand<V: V16>(token: V::Token, nonzero: &[u64], negative: &[u64], out: &mut [[i16; 16]]) {
    debug_assert!(nonzero.len() == negative.len() && 4 * nonzero.len() >= out.len());
    /// Powers of two that move bit i of a number to the top in lane i.
    const TO_TOP: Chunk = {
        let mut powers = [0; 16];
        let mut i = 0;
        while i < 16 {
            powers[i] = (1u16 << (15 - i)).cast_signed();
            i += 1;
        }
        Chunk(powers)
    };
    let (zero, to_top) = (V::zero(token), V::load(token, &TO_TOP));
    for ((nonzero, negative), out) in nonzero.iter().zip(negative).zip(out.chunks_mut(4)) {
        for (i, out) in out.iter_mut().enumerate() {
            let (nonzero, negative) = ((nonzero >> (16 * i)) as u16, (negative >> (16 * i)) as u16);
            let minus = V::splat(token, (nonzero & negative).cast_signed());
            let plus = V::splat(token, (nonzero & !negative).cast_signed());
            // All ones, that is -1, where the bit is set.
            let minus = zero.greater(minus.mullo(to_top));
            let plus = zero.greater(plus.mullo(to_top));
            minus.sub(plus).store_at(out);
        }
    }
}

#[inline(always)]
fn head(trial: &Trial, mut random: &[u64], choice: u64, chosen: &mut [u64]) -> (u32, u32) {
    let mut weight = 0;
    let mut left = trial.positions;
    for word in chosen {
        // Cut off by hand: the length of a `chunks_exact` would be a division, if only of public numbers.
        let (planes, rest) = random.split_at(trial.planes);
        random = rest;
        let mut all_set = u64::MAX;
        for plane in &planes[1..] {
            all_set &= plane;
        }
        *word = !planes[0] & !all_set & if left < 64 { (1 << left) - 1 } else { u64::MAX };
        weight += word.count_ones();
        left = left.saturating_sub(64);
    }
    debug_assert_eq!(left, 0, "random words are missing");
    let rest = trial.weight.wrapping_sub(weight);
    // The entry for `rest`, or 0 if there is none. Every entry is read; the compiler must not know that the mask is
    // all or nothing, or it makes a branch of the last entry.
    let opaque = black_box(0u64);
    let rest_hidden = u64::from(rest);
    let mut limit = 0;
    for (k, entry) in (0..).zip(&trial.acceptance) {
        // The top bit of x - 1 is set for x = 0 only, as x is below 2^32.
        limit |= entry & (((k ^ rest_hidden).wrapping_sub(1) >> 63).wrapping_neg() | opaque);
    }
    // The borrow of choice - limit; both are at most 2^63.
    let accepted = ((choice >> 1).wrapping_sub(limit) >> 63) as u32;
    (rest, black_box(accepted.wrapping_neg()))
}

/// The comparisons that sort [`TAIL`] words: Batcher's merge exchange (Knuth, The Art of Computer Programming, volume
/// 3, 5.2.2, algorithm M).
static COMPARISONS: [[u8; 2]; 543] = {
    let mut list = [[0; 2]; 543];
    let (mut len, mut p) = (0, TAIL >> 1);
    while p > 0 {
        let (mut q, mut r, mut d) = (TAIL >> 1, 0, p);
        loop {
            let mut i = 0;
            while i + d < TAIL {
                if i & p == r {
                    list[len] = [i as u8, (i + d) as u8];
                    len += 1;
                }
                i += 1;
            }
            if q == p {
                break;
            }
            (d, r) = (q - p, p);
            q >>= 1;
        }
        p >>= 1;
    }
    assert!(len == list.len());
    list
};

#[inline(always)]
fn sort_tails<V: U32x8>(token: V::Token, tails: &mut Tails) -> ([u64; 8], u32) {
    for &[i, j] in &COMPARISONS {
        let (i, j) = (usize::from(i) & (TAIL - 1), usize::from(j) & (TAIL - 1));
        let (low, high) = V::load(token, &tails[i]).min_max(V::load(token, &tails[j]));
        low.store(&mut tails[i]);
        high.store(&mut tails[j]);
    }
    let one = V::splat(token, 1);
    let mut halves = [V::splat(token, 0); 2];
    // Bit by bit from the top.
    for i in (0..TAIL >> 1).rev() {
        for (half, row) in halves.iter_mut().zip([i, i + 32]) {
            *half = half.add(*half).add(V::load(token, &tails[row]).and(one));
        }
    }
    let mut words = [[0; 8]; 2];
    halves[0].store(&mut words[0]);
    halves[1].store(&mut words[1]);
    let mut bits = [0; 8];
    for lane in 0..8 {
        bits[lane] = u64::from(words[1][lane]) << 32 | u64::from(words[0][lane]);
    }
    // Equal numbers are neighbours now. x ^ y is at most 1 for them, and only for them.
    let mut ties = [0; 8];
    for i in 1..TAIL {
        for lane in 0..8 {
            let difference = tails[i][lane] ^ tails[i - 1][lane];
            ties[lane] |= difference.wrapping_sub(2) & !difference;
        }
    }
    let ties = ties.iter().fold(0, |all, ties| all | ties);
    (bits, ties >> 31)
}
