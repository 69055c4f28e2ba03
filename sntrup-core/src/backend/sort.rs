//! Constant-time sorting of up to 1024 words (the specification's generation of short elements sorts p of them).
//!
//! A sorting network over a matrix of 8 columns and `32 B` rows (B = 3 or 4), padded with largest words. Row i is one vector, and
//! the sorted sequence is to run down the first column, then the second, and so on. Which words are compared depends on the
//! length alone.
//!
//! First every column is sorted for itself, comparing whole rows: runs of B rows, then bitonic merges of runs. Then columns are
//! merged with their neighbours, pairs of columns with pairs, and halves with halves. A bitonic merge of two sorted runs compares
//! the first of one with the last of the other and so on, which leaves two halves, every word of the lower at most every word of
//! the upper, each first descending and then ascending or the other way round, in a circle (bitonic). A bitonic run of even length
//! falls apart in the same way when its halves are compared word by word. As 32 is a power of two that goes on down to runs of B.

use super::words::{U32x8, portable};
#[cfg(target_arch = "x86_64")]
use super::{entry::avx2_kernel, lanes::Avx2, words::avx2};
use zeroize::Zeroize;

/// Largest number of words that can be sorted.
pub(crate) const MAX_LEN: usize = 1024;

/// Sorts at most [`MAX_LEN`] words, smallest first.
pub(crate) fn sort_portable(words: &mut [u32]) {
    sort::<portable::Words32>((), words);
}

#[cfg(target_arch = "x86_64")]
avx2_kernel! {
    /// [`sort_portable`] with AVX2.
    pub(crate) fn sort_avx2(token: Avx2, words: &mut [u32]) {
        sort::<avx2::Words32>(token, words);
    }
}

#[inline(always)]
fn sort<V: U32x8>(token: V::Token, words: &mut [u32]) {
    if words.len() <= 8 * 96 {
        sort_matrix::<V, 3, 12, 96>(token, words);
    } else {
        sort_matrix::<V, 4, 16, 128>(token, words);
    }
}

/// [`sort`] in a matrix of `ROWS` = 32 `B` rows, which are sorted and merged in runs of `RUN` = 4 `B` rows.
#[inline(always)]
fn sort_matrix<V: U32x8, const B: usize, const RUN: usize, const ROWS: usize>(token: V::Token, words: &mut [u32]) {
    const { assert!(RUN == 4 * B && ROWS == 32 * B) };
    assert!(words.len() <= 8 * ROWS, "{} words to sort, at most {} can be", words.len(), 8 * ROWS);
    let mut rows = [[u32::MAX; 8]; ROWS];
    rows.as_flattened_mut()[..words.len()].copy_from_slice(words);
    let mut matrix = Matrix::<V, B, RUN> { token, rows: &mut rows };
    matrix.sort_columns();
    matrix.merge_columns::<1>();
    matrix.merge_columns::<2>();
    matrix.merge_columns::<4>();
    for (i, eight) in rows.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        transpose::<V>(token, eight);
        for (k, cells) in eight.iter().enumerate() {
            let rest = words.get_mut(k * ROWS + 8 * i..).unwrap_or_default();
            match rest.first_chunk_mut() {
                Some(chunk) => *chunk = *cells,
                None => rest.copy_from_slice(&cells[..rest.len()]),
            }
        }
    }
    rows.as_flattened_mut().zeroize();
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

    /// Eight rows, in ascending order, that are together under all of: the mirror of all rows, steps by half, and steps by a
    /// quarter of all rows. `i` < `RUN`.
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
mod tests {
    use super::*;

    /// A small generator for inputs, of no other quality than its period.
    fn words(seed: u32) -> impl FnMut() -> u32 {
        let mut state = seed.wrapping_mul(2_654_435_761) | 1;
        move || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state
        }
    }

    fn check(name: &str, sort: impl Fn(&mut [u32])) {
        for len in (0..MAX_LEN + 1).filter(|len| len % 97 == 0 || [653, 761, 768, 769, 857, 1023, 1024].contains(len)) {
            let mut next = words(len as u32 + 1);
            // Threshold patterns (a network that sorts all of zeros and ones sorts everything), few and many values, extremes.
            let inputs: [Box<dyn FnMut(usize) -> u32>; 6] = [
                Box::new(|i| i as u32),
                Box::new(|i| (len - i) as u32),
                Box::new(|_| u32::MAX),
                Box::new(|_| next() & 1),
                Box::new(|i| (i as u32).wrapping_mul(0x9e37_79b9) >> 30),
                Box::new(|i| (i as u32).wrapping_mul(0x9e37_79b9)),
            ];
            for input in inputs {
                let mut sorted: Vec<u32> = (0..len).map(input).collect();
                let mut expected = sorted.clone();
                sort(&mut sorted);
                expected.sort_unstable();
                assert_eq!(sorted, expected, "{name}, {len} words");
            }
        }
        // Zeros and ones with every number of ones, twice each, at random places.
        for ones in 0..=761 {
            for round in 0..2 {
                let mut next = words(2 * ones + round);
                let mut sorted: Vec<u32> = (0..761).map(|i| u32::from(i < ones)).collect();
                for i in (1..761).rev() {
                    sorted.swap(i, next() as usize % (i + 1));
                }
                sort(&mut sorted);
                assert!(sorted.is_sorted() && sorted.iter().sum::<u32>() == ones, "{name}, {ones} ones");
            }
        }
    }

    #[test]
    fn sorts_portable() {
        check("portable", sort_portable);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn sorts_avx2() {
        let token = Avx2::detect().expect("this test needs a processor with AVX2");
        check("avx2", |words| sort_avx2(token, words));
    }
}
