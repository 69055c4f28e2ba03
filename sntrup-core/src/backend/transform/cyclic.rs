//! The transform of sntrup653: q = 4621, M(y) = y⁸⁴ - 1, 84 points and four of padding.
//!
//! Chunk i sits at (i mod 4, i mod 3, i mod 7). A point is ζ = w₄^k₄ · w₃^k₃ · w₇^k₇, stored in column 4·k₃ + k₄; row 0
//! is k₇ = 0, row 1 + m is k₇ = 3^-m mod 7.
#![allow(
    clippy::integer_division,
    clippy::integer_division_remainder_used,
    clippy::modulo_arithmetic,
    clippy::needless_range_loop,
    reason = "arithmetic on public constants and indices; loops over several arrays of vectors in step"
)]

use super::super::constants::*;
use super::super::lanes::{Chunk, Place, V16};
use super::rader7::{Bounds, Correlated, Correlation, POWER};
use super::{GROUP, Row, Transform, array, array_mut, dft3, dft3_bound, larger, load_group};

/// Field and transform of sntrup653.
pub(crate) struct Ring653;

const Q: i16 = 4621;
const QL: i64 = Q as i64;
/// Roots of order 7, 4 and 3.
const W7: i64 = root_of_unity(7, QL);
const W4: i64 = root_of_unity(4, QL);
const W3: i64 = root_of_unity(3, QL);

static FORWARD_4: Factor = Factor::splat(W4, Q);
static INVERSE_4: Factor = Factor::splat(-W4, Q);
static FORWARD_3: Factor = Factor::splat(W3, Q);
static INVERSE_3: Factor = Factor::splat(W3 * W3, Q);
static FORWARD_7: Correlation = Correlation::new(W7, W3, 1, Q);
/// The inverse divides by 84 and multiplies by the 2¹⁶ that the product lost.
static INVERSE_7: Correlation = Correlation::new(reciprocal(W7, QL), W3, (1 << 16) * reciprocal(84, QL), Q);

static ROOTS: [Factor; 11] = {
    let (mut roots, mut group) = ([Factor::splat(0, Q); 11], 0);
    while group < 11 {
        let (mut lanes, mut lane) = ([0; 16], 0);
        while lane < 16 {
            let point = 8 * group + lane / 2;
            if point < 84 {
                let (column, row) = (point / 7, point % 7);
                let k7 = if row == 0 { 0 } else { POWER[(7 - row) % 6] };
                let root = power(W7, k7 as i64, QL) * power(W4, column as i64 % 4, QL);
                lanes[lane] = center(root, QL) * power(W3, column as i64 / 4, QL);
            }
            lane += 1;
        }
        roots[group] = Factor::lanes(lanes, Q);
        group += 1;
    }
    roots
};

/// Where column 4·(i mod 3) + (i mod 4) writes its outputs t = i mod 7: entry 0 for t = 0, entry 1 + m for t = 3^-m.
static PLACES: [[Place<84>; 7]; 12] = {
    let (mut places, mut column) = ([[Place::new(0); 7]; 12], 0);
    while column < 12 {
        let mut row = 0;
        while row < 7 {
            let t = if row == 0 { 0 } else { POWER[(7 - row) % 6] };
            let mut i = 0;
            while i % 4 != column % 4 || i % 3 != column / 4 || i % 7 != t {
                i += 1;
            }
            places[column][row] = Place::new(i);
            row += 1;
        }
        column += 1;
    }
    places
};

/// Four-point transforms of two inputs: a sum, or an input and a product.
const HALF_FOUR_BOUND: i32 =
    larger(2 * Ring653::INPUT_BOUND, Ring653::INPUT_BOUND + mul_bound::<Ring653>(Ring653::INPUT_BOUND));
/// Of a column before its seven-point transform.
const COLUMN_BOUND: i32 = bar_bound::<Ring653>(fits(dft3_bound::<Ring653>(HALF_FOUR_BOUND)));
const FORWARD_BOUNDS: Bounds = Bounds::new::<Ring653>(COLUMN_BOUND);
const BASE_BOUND: i32 = COLUMN_BOUND + FORWARD_BOUNDS.part;
/// Inverse four-point transforms of four inputs: reduced sums, or two inputs and a product.
const FOUR_BOUND: i32 = larger(
    bar_bound::<Ring653>(fits(4 * Ring653::PRODUCT_BOUND)),
    2 * Ring653::PRODUCT_BOUND + mul_bound::<Ring653>(2 * Ring653::PRODUCT_BOUND),
);
const INVERSE_COLUMN_BOUND: i32 = bar_bound::<Ring653>(fits(dft3_bound::<Ring653>(FOUR_BOUND)));
const INVERSE_BOUNDS: Bounds = Bounds::new::<Ring653>(INVERSE_COLUMN_BOUND);
const INVERSE_BASE_BOUND: i32 = INVERSE_BOUNDS.part + mul_bound::<Ring653>(INVERSE_COLUMN_BOUND);

/// Twelve-point transform of the chunks r, r + 7, …, r + 35. Chunks i and i + 21 share their residue mod 3 and are
/// neighbours mod 4.
#[inline(always)]
fn twelve<const R: usize, V: V16>(token: V::Token, input: &[Row; 41], columns: &mut [[Chunk; 7]; 12]) {
    let zero = V::zero(token);
    let mut four = [[zero; 3]; 4];
    for j in 0..3 {
        let i = R + 7 * j;
        let a = V::load_at(token, &input[i]).within(Ring653::INPUT_BOUND);
        let b = if i + 21 < 41 { V::load_at(token, &input[i + 21]).within(Ring653::INPUT_BOUND) } else { zero };
        // w4^(i k) (a + w4^k b) for k = 0..4, where w4² = -1.
        let turned = mul::<Ring653, V>(token, if i & 1 == 0 { b } else { a }, &FORWARD_4);
        let [x1, x3] = match i % 4 {
            0 => [a.add(turned), a.sub(turned)],
            1 => [turned.sub(b), zero.sub(turned).sub(b)],
            2 => [zero.sub(a).sub(turned), turned.sub(a)],
            _ => [b.sub(turned), b.add(turned)],
        };
        let x2 = if i & 1 == 0 { a.sub(b) } else { b.sub(a) };
        let outputs = [a.add(b), x1, x2, x3];
        for k4 in 0..4 {
            four[k4][i % 3] = outputs[k4].within(HALF_FOUR_BOUND);
        }
    }
    for k4 in 0..4 {
        let y = dft3::<Ring653, V>(token, four[k4], &FORWARD_3);
        for k3 in 0..3 {
            bar::<Ring653, V>(token, y[k3]).within(COLUMN_BOUND).store(&mut columns[4 * k3 + k4][R]);
        }
    }
}

/// Inverse twelve-point transform of the points in one row; input n of a correlation is the row of k₇ = 3^n.
#[inline(always)]
fn twelve_inverse<const ROW: usize, V: V16>(token: V::Token, points: &[Chunk; 88], columns: &mut [[Chunk; 7]; 12]) {
    let mut four = [[V::zero(token); 3]; 4];
    for k3 in 0..3 {
        let x0 = V::load(token, &points[7 * (4 * k3) + ROW]).within(Ring653::PRODUCT_BOUND);
        let x1 = V::load(token, &points[7 * (4 * k3 + 1) + ROW]).within(Ring653::PRODUCT_BOUND);
        let x2 = V::load(token, &points[7 * (4 * k3 + 2) + ROW]).within(Ring653::PRODUCT_BOUND);
        let x3 = V::load(token, &points[7 * (4 * k3 + 3) + ROW]).within(Ring653::PRODUCT_BOUND);
        let (even, odd, difference) = (x0.add(x2), x1.add(x3), x0.sub(x2));
        let turned = mul::<Ring653, V>(token, x1.sub(x3), &INVERSE_4);
        four[0][k3] = bar::<Ring653, V>(token, even.add(odd)).within(FOUR_BOUND);
        four[1][k3] = difference.add(turned).within(FOUR_BOUND);
        four[2][k3] = bar::<Ring653, V>(token, even.sub(odd)).within(FOUR_BOUND);
        four[3][k3] = difference.sub(turned).within(FOUR_BOUND);
    }
    let to = if ROW == 0 { 0 } else { 1 + (7 - ROW) % 6 };
    for i4 in 0..4 {
        let y = dft3::<Ring653, V>(token, four[i4], &INVERSE_3);
        for i3 in 0..3 {
            bar::<Ring653, V>(token, y[i3]).within(INVERSE_COLUMN_BOUND).store(&mut columns[4 * i3 + i4][to]);
        }
    }
}

impl Modulus for Ring653 {
    const Q: i16 = Q;
}

impl Transform for Ring653 {
    const P: usize = 653;
    const GROUPS: usize = 11;
    const WIDE: usize = 84;
    const SCRATCH: usize = 84;
    const POINT_BOUND: i32 =
        bar_bound::<Self>(fits(larger(BASE_BOUND + FORWARD_BOUNDS.without_base(), 7 * COLUMN_BOUND)));
    const WIDE_BOUND: i32 = bar_bound::<Self>(fits(INVERSE_BASE_BOUND + INVERSE_BOUNDS.without_base()));

    fn roots() -> &'static [Factor] {
        &ROOTS
    }

    #[inline(always)]
    fn forward<V: V16>(token: V::Token, input: &[Row], scratch: &mut [Chunk], points: &mut [Chunk]) {
        let input: &[Row; 41] = array(input);
        let points: &mut [Chunk; 88] = array_mut(points);
        let columns: &mut [[Chunk; 7]; 12] =
            array_mut::<_, 84>(scratch).as_chunks_mut().0.try_into().expect("84 = 12 * 7");
        macro_rules! rows {
            ($($r:literal)*) => { $(twelve::<$r, V>(token, input, columns);)* };
        }
        rows!(0 1 2 3 4 5 6);

        for (column, out) in columns.iter().zip(points.as_chunks_mut::<7>().0) {
            let mut a = [V::zero(token); 6];
            for n in 0..6 {
                a[n] = V::load(token, &column[POWER[n]]);
            }
            let parts = Correlated::new::<Self>(token, a, &FORWARD_7, &FORWARD_BOUNDS);
            let zeroth = V::load(token, &column[0]);
            let base = parts.base::<Self>(token, &FORWARD_7).add(zeroth).within(BASE_BOUND);
            let y = parts.outputs::<Self>(token, base, &FORWARD_7);
            bar::<Self, V>(token, parts.sum.add(zeroth)).within(Self::POINT_BOUND).store(&mut out[0]);
            for m in 0..6 {
                bar::<Self, V>(token, y[m]).within(Self::POINT_BOUND).store(&mut out[1 + m]);
            }
        }
        for padding in &mut points[84..] {
            V::zero(token).store(padding);
        }
        for group in points.as_chunks_mut::<GROUP>().0 {
            let rows = V::transpose(load_group(token, group));
            for m in 0..GROUP {
                rows[m].store(&mut group[m]);
            }
        }
    }

    #[inline(always)]
    fn inverse<V: V16>(token: V::Token, points: &mut [Chunk], scratch: &mut [Chunk]) {
        let points: &mut [Chunk; 88] = array_mut(points);
        let columns: &mut [[Chunk; 7]; 12] =
            array_mut::<_, 84>(scratch).as_chunks_mut().0.try_into().expect("84 = 12 * 7");
        macro_rules! rows {
            ($($r:literal)*) => { $(twelve_inverse::<$r, V>(token, points, columns);)* };
        }
        rows!(0 1 2 3 4 5 6);
        // All points are read; their place takes the result.
        let wide: &mut [Chunk; 84] = array_mut(&mut points[..84]);

        for (column, places) in columns.iter().zip(&PLACES) {
            let mut a = [V::zero(token); 6];
            for n in 0..6 {
                a[n] = V::load(token, &column[1 + n]);
            }
            let parts = Correlated::new::<Self>(token, a, &INVERSE_7, &INVERSE_BOUNDS);
            let zeroth = V::load(token, &column[0]);
            let base = parts.base::<Self>(token, &INVERSE_7).add(mul::<Self, V>(token, zeroth, &INVERSE_7.scale));
            let y = parts.outputs::<Self>(token, base.within(INVERSE_BASE_BOUND), &INVERSE_7);
            let zeroth = mul::<Self, V>(token, parts.sum.add(zeroth), &INVERSE_7.scale);
            bar::<Self, V>(token, zeroth).within(Self::WIDE_BOUND).store(places[0].of(wide));
            for m in 0..6 {
                bar::<Self, V>(token, y[m]).within(Self::WIDE_BOUND).store(places[1 + m].of(wide));
            }
        }
    }
}
