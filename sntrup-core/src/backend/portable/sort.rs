//! Sorting by Batcher's merge exchange (Knuth, The Art of Computer Programming, volume 3, 5.2.2, algorithm M): the
//! comparisons depend on the length alone.

use crate::ct;

pub(super) fn sort(words: &mut [u32]) {
    let n = words.len();
    if n < 2 {
        return;
    }
    let zero = ct::opaque_zero();
    let top = n.next_power_of_two() >> 1;
    let mut p = top;
    while p > 0 {
        // The pass compares words at distance d whose index has bit p equal to r.
        let (mut q, mut r, mut d) = (top, 0, p);
        loop {
            let mut start = r;
            while start + d < n {
                let count = p.min(n - d - start);
                let (low, high) = words[start..start + d + count].split_at_mut(d);
                exchange(&mut low[..count], high, zero);
                start += 2 * p;
            }
            if q == p {
                break;
            }
            (d, r) = (q - p, p);
            q >>= 1;
        }
        p >>= 1;
    }
}

/// Puts the smaller word of each pair into `low` and the larger into `high`.
///
/// The borrow of low - high, bit 31 of the full-subtractor formula, becomes the mask.
#[inline(always)]
fn exchange(low: &mut [u32], high: &mut [u32], zero: u32) {
    for (x, y) in low.iter_mut().zip(high) {
        let borrow = (!*y & *x) | ((!*y | *x) & y.wrapping_sub(*x));
        let swap = (((borrow as i32) >> 31) as u32 | zero) & (*x ^ *y);
        *x ^= swap;
        *y ^= swap;
    }
}
