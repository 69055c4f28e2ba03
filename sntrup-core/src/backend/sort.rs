//! The specification's generation of short elements: constant-time sorting of p words, of up to 1024.
//!
//! A sorting network over a matrix of 8 columns and `32 B` rows (B = 3 or 4), padded with largest words. Row i is one
//! vector, and the sorted sequence is to run down the first column, then the second, and so on. Which words are
//! compared depends on the length alone.
//!
//! First every column is sorted for itself, comparing whole rows: runs of B rows, then bitonic merges of runs. Then
//! columns are merged with their neighbours, pairs of columns with pairs, and halves with halves. A bitonic merge of
//! two sorted runs compares the first of one with the last of the other and so on, which leaves two halves, every word
//! of the lower at most every word of the upper, each first descending and then ascending or the other way round, in a
//! circle (bitonic). A bitonic run of even length falls apart in the same way when its halves are compared word by
//! word. As 32 is a power of two that goes on down to runs of B.

use super::words::{U32x8, portable};
#[cfg(target_arch = "x86_64")]
use super::{entry::avx2_kernel, lanes::Avx2, words::avx2};
use crate::wipe::wipe;

/// Writes the short element of weight `weight` that the specification's procedure makes of one 32-bit word for each
/// coefficient, little-endian: the first `weight` words are marked as 1 or -1 (an even number in the two low bits),
/// the others as 0 (the number 1), and the order that sorting by the 30 bits above gives is that of the coefficients.
pub(crate) fn short_portable(words: &[u8], weight: usize, out: &mut [i16]) {
    short::<portable::Words32>((), words, weight, out);
}

#[cfg(target_arch = "x86_64")]
avx2_kernel! {
    /// [`short_portable`] with AVX2.
    pub(crate) fn short_avx2(token: Avx2, words: &[u8], weight: usize, out: &mut [i16]) {
        short::<avx2::Words32>(token, words, weight, out);
    }
}

#[inline(always)]
fn short<V: U32x8>(token: V::Token, words: &[u8], weight: usize, out: &mut [i16]) {
    let words = words.as_chunks().0;
    if words.len() <= 8 * 96 {
        short_in_matrix::<V, 3, 12, 96>(token, words, weight, out);
    } else {
        short_in_matrix::<V, 4, 16, 128>(token, words, weight, out);
    }
}

#[inline(always)]
fn short_in_matrix<V: U32x8, const B: usize, const RUN: usize, const ROWS: usize>(
    token: V::Token,
    words: &[[u8; 4]],
    weight: usize,
    out: &mut [i16],
) {
    assert!(out.len() >= words.len() && out.len() & 7 == 0, "a short element is padded to whole vectors");
    let mut rows = [[u32::MAX; 8]; ROWS];
    let cells = &mut rows.as_flattened_mut()[..words.len()];
    for (cell, &word) in cells[..weight].iter_mut().zip(&words[..weight]) {
        *cell = u32::from_le_bytes(word) & !1;
    }
    for (cell, &word) in cells[weight..].iter_mut().zip(&words[weight..]) {
        *cell = u32::from_le_bytes(word) & !3 | 1;
    }
    sort_matrix::<V, B, RUN, ROWS>(token, &mut rows);
    // Eight words of each column at a time.
    for (i, eight) in rows.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        transpose::<V>(token, eight);
        for (k, cells) in eight.iter().enumerate() {
            let place = out.get_mut(k * ROWS + 8 * i..).and_then(|rest| rest.first_chunk_mut::<8>());
            if let Some(place) = place {
                for (x, cell) in place.iter_mut().zip(cells) {
                    *x = (cell & 3) as i16 - 1;
                }
            }
        }
    }
    out[words.len()..].fill(0);
    wipe(&mut rows);
}

/// Sorts the words of a matrix of `ROWS` = 32 `B` rows, column after column; works in runs of `RUN` = 4 `B` rows.
#[inline(always)]
fn sort_matrix<V: U32x8, const B: usize, const RUN: usize, const ROWS: usize>(
    token: V::Token,
    rows: &mut [[u32; 8]; ROWS],
) {
    const { assert!(RUN == 4 * B && ROWS == 32 * B) };
    let mut matrix = Matrix::<V, B, RUN> { token, rows };
    matrix.sort_columns();
    matrix.merge_columns::<1>();
    matrix.merge_columns::<2>();
    matrix.merge_columns::<4>();
}

/// Transposes an 8x8 matrix.
#[inline(always)]
fn transpose<V: U32x8>(token: V::Token, cells: &mut [[u32; 8]; 8]) {
    let mut rows = [V::load(token, &cells[0]); 8];
    for i in 1..8 {
        rows[i] = V::load(token, &cells[i]);
    }
    let columns = V::transpose(rows);
    for i in 0..8 {
        columns[i].store(&mut cells[i]);
    }
}

/// Within every group of 2 `N` lanes, compares lane i with lane i + `N`.
#[inline(always)]
fn exchange<V: U32x8, const N: usize>(row: V) -> V {
    let other = if N == 1 { row.swap_lanes() } else { row.swap_pairs() };
    let (low, high) = row.min_max(other);
    blend_upper::<V, N>(low, high)
}

/// Reverses every group of 2 `N` lanes.
#[inline(always)]
fn mirror<V: U32x8, const N: usize>(row: V) -> V {
    match N {
        1 => row.swap_lanes(),
        2 => row.reverse_halves(),
        _ => row.reverse(),
    }
}

/// The lower `N` lanes of every group of 2 `N` from `low`, the upper ones from `high`.
#[inline(always)]
fn blend_upper<V: U32x8, const N: usize>(low: V, high: V) -> V {
    match N {
        1 => low.blend::<0b1010_1010>(high),
        2 => low.blend::<0b1100_1100>(high),
        _ => low.blend::<0b1111_0000>(high),
    }
}

/// Puts the smaller words of rows `i` and `j` into row `i`, the larger ones into row `j`.
#[inline(always)]
fn compare<V: U32x8>(rows: &mut [V], i: usize, j: usize) {
    (rows[i], rows[j]) = rows[i].min_max(rows[j]);
}

/// Compares every row of the first half with its counterpart in the second.
#[inline(always)]
fn compare_halves<V: U32x8>(rows: &mut [V]) {
    let half = rows.len() >> 1;
    for i in 0..half {
        compare(rows, i, half + i);
    }
}

/// Compares the first row with the last, the second with the last but one, and so on.
#[inline(always)]
fn compare_mirrored<V: U32x8>(rows: &mut [V]) {
    let len = rows.len();
    for i in 0..len >> 1 {
        compare(rows, i, len - 1 - i);
    }
}

/// Sorts the columns of three or four rows.
#[inline(always)]
fn sort_base<V: U32x8>(rows: &mut [V]) {
    if rows.len() == 4 {
        compare(rows, 0, 1);
        compare(rows, 2, 3);
        merge_base_after_mirror(rows);
    } else {
        merge_base(rows);
    }
}

/// Merges the sorted pairs of four rows.
#[inline(always)]
fn merge_base_after_mirror<V: U32x8>(rows: &mut [V]) {
    compare_mirrored(rows);
    compare(rows, 0, 1);
    compare(rows, 2, 3);
}

/// Sorts the bitonic columns of three or four rows.
#[inline(always)]
fn merge_base<V: U32x8>(rows: &mut [V]) {
    if rows.len() == 4 {
        compare_halves(rows);
        compare(rows, 0, 1);
        compare(rows, 2, 3);
    } else {
        compare(rows, 0, 1);
        compare(rows, 1, 2);
        compare(rows, 0, 1);
    }
}

struct Matrix<'a, V: U32x8, const B: usize, const RUN: usize> {
    token: V::Token,
    rows: &'a mut [[u32; 8]],
}

impl<V: U32x8, const B: usize, const RUN: usize> Matrix<'_, V, B, RUN> {
    /// The rows with these indices.
    #[inline(always)]
    fn load<const N: usize>(&self, indices: [usize; N]) -> [V; N] {
        let mut rows = [V::load(self.token, &self.rows[indices[0]]); N];
        for k in 1..N {
            rows[k] = V::load(self.token, &self.rows[indices[k]]);
        }
        rows
    }

    /// Replaces the rows with these indices.
    #[inline(always)]
    fn store<const N: usize>(&mut self, indices: [usize; N], rows: [V; N]) {
        for k in 0..N {
            rows[k].store(&mut self.rows[indices[k]]);
        }
    }

    /// Puts the smaller words of rows `i` and `j` into row `i`, the larger ones into row `j`.
    #[inline(always)]
    fn compare_rows(&mut self, i: usize, j: usize) {
        let mut rows = self.load([i, j]);
        compare(&mut rows, 0, 1);
        self.store([i, j], rows);
    }

    /// Sorts every column.
    #[inline(always)]
    fn sort_columns(&mut self) {
        for cells in self.rows.as_chunks_mut::<RUN>().0 {
            let mut run = load_run(self.token, cells);
            for part in run.chunks_exact_mut(B) {
                sort_base(part);
            }
            for half in run.chunks_exact_mut(2 * B) {
                compare_mirrored(half);
                merge_bases::<V, B>(half);
            }
            compare_mirrored(&mut run);
            for half in run.chunks_exact_mut(2 * B) {
                compare_halves(half);
                merge_bases::<V, B>(half);
            }
            store_run(run, cells);
        }
        // Two runs to one of 2 RUN rows.
        for start in (0..8 * RUN).step_by(2 * RUN) {
            for i in 0..RUN {
                self.compare_rows(start + i, start + (2 * RUN - 1 - i));
            }
        }
        self.merge_runs();
        // To runs of 4 RUN rows.
        for start in (0..8 * RUN).step_by(4 * RUN) {
            for i in start..start + RUN {
                let j = 2 * start + 4 * RUN - 1 - i;
                let four = [i, i + RUN, j - RUN, j];
                let mut rows = self.load(four);
                compare_mirrored(&mut rows);
                compare(&mut rows, 0, 1);
                compare(&mut rows, 2, 3);
                self.store(four, rows);
            }
        }
        self.merge_runs();
        // To one run of all rows.
        for i in 0..RUN {
            let mut rows = self.load(Self::octet(i));
            compare_mirrored(&mut rows);
            compare_quarters(&mut rows);
            self.store(Self::octet(i), rows);
        }
        self.merge_double_runs();
    }

    /// Merges groups of `N` (1, 2, 4) columns with their neighbours.
    #[inline(always)]
    fn merge_columns<const N: usize>(&mut self) {
        for i in 0..RUN {
            let mut rows = self.load(Self::octet(i));
            for k in 0..4 {
                let (low, high) = rows[k].min_max(mirror::<V, N>(rows[7 - k]));
                rows[k] = blend_upper::<V, N>(low, high);
                rows[7 - k] = mirror::<V, N>(blend_upper::<V, N>(high, low));
            }
            // What is bitonic over several lanes falls apart into what is so over single lanes.
            for row in &mut rows {
                if N >= 4 {
                    *row = exchange::<V, 2>(*row);
                }
                if N >= 2 {
                    *row = exchange::<V, 1>(*row);
                }
            }
            compare_halves(&mut rows);
            compare_quarters(&mut rows);
            self.store(Self::octet(i), rows);
        }
        self.merge_double_runs();
    }

    /// Eight rows, in ascending order, that are together under all of: the mirror of all rows, steps by half, and
    /// steps by a quarter of all rows. `i` < `RUN`.
    #[inline(always)]
    fn octet(i: usize) -> [usize; 8] {
        let mirror = 2 * RUN - 1 - i;
        [i, mirror, 2 * RUN + i, 2 * RUN + mirror, 4 * RUN + i, 4 * RUN + mirror, 6 * RUN + i, 6 * RUN + mirror]
    }

    /// Sorts columns that are bitonic in every run of 2 `RUN` rows, where those runs are in order.
    #[inline(always)]
    fn merge_double_runs(&mut self) {
        for start in (0..8 * RUN).step_by(2 * RUN) {
            for i in start..start + RUN {
                self.compare_rows(i, i + RUN);
            }
        }
        self.merge_runs();
    }

    /// Sorts columns that are bitonic in every run of `RUN` rows, where those runs are in order.
    #[inline(always)]
    fn merge_runs(&mut self) {
        for cells in self.rows.as_chunks_mut::<RUN>().0 {
            let mut run = load_run(self.token, cells);
            compare_halves(&mut run);
            for half in run.chunks_exact_mut(2 * B) {
                compare_halves(half);
                merge_bases::<V, B>(half);
            }
            store_run(run, cells);
        }
    }
}

#[inline(always)]
fn load_run<V: U32x8, const RUN: usize>(token: V::Token, cells: &[[u32; 8]; RUN]) -> [V; RUN] {
    let mut run = [V::load(token, &cells[0]); RUN];
    for i in 1..RUN {
        run[i] = V::load(token, &cells[i]);
    }
    run
}

#[inline(always)]
fn store_run<V: U32x8, const RUN: usize>(run: [V; RUN], cells: &mut [[u32; 8]; RUN]) {
    for i in 0..RUN {
        run[i].store(&mut cells[i]);
    }
}

/// Sorts the bitonic columns of every `B` rows.
#[inline(always)]
fn merge_bases<V: U32x8, const B: usize>(rows: &mut [V]) {
    for base in rows.chunks_exact_mut(B) {
        merge_base(base);
    }
}

/// Compares the first quarter of an octet with the second, the third with the fourth.
#[inline(always)]
fn compare_quarters<V: U32x8>(octet: &mut [V; 8]) {
    let (low, high) = octet.split_at_mut(4);
    compare_halves(low);
    compare_halves(high);
}

#[cfg(test)]
#[allow(clippy::integer_division, clippy::integer_division_remainder_used, reason = "the oracle divides")]
mod tests {
    use super::*;

    /// Sorts at most 1024 words.
    #[inline(always)]
    fn sort<V: U32x8>(token: V::Token, words: &mut [u32]) {
        if words.len() <= 8 * 96 {
            sort_in_matrix::<V, 3, 12, 96>(token, words);
        } else {
            sort_in_matrix::<V, 4, 16, 128>(token, words);
        }
    }

    #[inline(always)]
    fn sort_in_matrix<V: U32x8, const B: usize, const RUN: usize, const ROWS: usize>(
        token: V::Token,
        words: &mut [u32],
    ) {
        let mut rows = [[u32::MAX; 8]; ROWS];
        rows.as_flattened_mut()[..words.len()].copy_from_slice(words);
        sort_matrix::<V, B, RUN, ROWS>(token, &mut rows);
        for (i, word) in words.iter_mut().enumerate() {
            *word = rows[i % ROWS][i / ROWS];
        }
    }

    #[cfg(target_arch = "x86_64")]
    avx2_kernel! {
        fn sort_avx2(token: Avx2, words: &mut [u32]) {
            sort::<avx2::Words32>(token, words);
        }
    }

    /// A small generator of repeatable test values (xorshift64*).
    struct Values(u64);

    impl Values {
        fn next(&mut self) -> u32 {
            self.0 ^= self.0 >> 12;
            self.0 ^= self.0 << 25;
            self.0 ^= self.0 >> 27;
            (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
        }
    }

    /// K9: lengths 0 to 3, 653, 761, 857, 1024; equal, reversed, extreme and random arrays.
    fn sorts(sort: impl Fn(&mut [u32])) {
        let check = |words: &[u32]| {
            let (mut got, mut expected) = (words.to_vec(), words.to_vec());
            sort(&mut got);
            expected.sort_unstable();
            assert_eq!(got, expected);
        };
        // A network of comparisons that sorts all sequences of zeros and ones sorts everything: all short ones, and
        // long ones with every number of ones at random places.
        for n in 0..=12u32 {
            for bits in 0..1u32 << n {
                check(&(0..n).map(|i| bits >> i & 1).collect::<Vec<_>>());
            }
        }
        let mut values = Values(5);
        for n in [768, 1024] {
            for ones in 0..=n {
                let mut words: Vec<u32> = (0..n).map(|i| u32::from(i < ones)).collect();
                for i in (1..n).rev() {
                    words.swap(i, values.next() as usize % (i + 1));
                }
                check(&words);
            }
        }
        let extremes = [0, 1, 0x7fff_fffe, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, u32::MAX - 1, u32::MAX];
        for n in [0, 1, 2, 3, 653, 761, 768, 769, 857, 1024] {
            check(&vec![7; n]);
            check(&(0..n as u32).rev().collect::<Vec<_>>());
            check(&(0..n as u32).collect::<Vec<_>>());
            for _ in 0..100 {
                check(&(0..n).map(|_| extremes[values.next() as usize % 8]).collect::<Vec<_>>());
            }
        }
        for _ in 0..100_000 {
            let n = values.next() as usize % 200;
            check(&(0..n).map(|_| values.next()).collect::<Vec<_>>());
        }
        for n in [653, 761, 857, 1024].into_iter().cycle().take(4000) {
            check(&(0..n).map(|_| values.next()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn sorts_portable() {
        sorts(|words| sort::<portable::Words32>((), words));
    }

    #[test]
    fn sorts_arrays() {
        sorts(|words| sort::<crate::backend::words::array::Words32>((), words));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn sorts_avx2() {
        let token = Avx2::detect().expect("this test needs a processor with AVX2");
        sorts(|words| sort_avx2(token, words));
    }

    fn short_elements(short: impl Fn(&[u8], usize, &mut [i16])) {
        let mut values = Values(11);
        for (p, weight, padded) in [(653, 288, 656), (761, 286, 768), (857, 322, 864)] {
            for round in 0..200 {
                // Few different numbers in some rounds, so that many are equal.
                let words: Vec<u32> = (0..p).map(|_| values.next() >> (round & 31)).collect();
                let mut tagged: Vec<u32> =
                    words.iter().enumerate().map(|(i, v)| if i < weight { v & !1 } else { v & !3 | 1 }).collect();
                tagged.sort_unstable();
                let expected: Vec<i16> = tagged.iter().map(|tag| (tag & 3) as i16 - 1).collect();
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                let mut out = vec![0x55; padded];
                short(&bytes, weight, &mut out);
                assert_eq!(out[..p], expected);
                assert!(out[p..].iter().all(|&x| x == 0));
            }
        }
    }

    #[test]
    fn short_elements_portable() {
        short_elements(short_portable);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn short_elements_avx2() {
        let token = Avx2::detect().expect("this test needs a processor with AVX2");
        short_elements(|words, weight, out| short_avx2(token, words, weight, out));
    }
}
