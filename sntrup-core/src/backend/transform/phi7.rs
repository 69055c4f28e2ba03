//! The transform of sntrup857: q = 5167, M(y) = Φ₇(y¹⁸) = (y¹²⁶ - 1)/(y¹⁸ - 1), 108 points and four of padding.
//!
//! Chunk i sits at (i mod 18, i mod 7), and 18 splits into the sign of (-1)^i and nine points. A point is
//! ζ = (-w₉)^k₁₈ · w₇^k₇ with k₇ ≠ 0, stored in column k₁₈ at row m where k₇ = 3^-m mod 7.
#![allow(
    clippy::integer_division,
    clippy::integer_division_remainder_used,
    clippy::modulo_arithmetic,
    clippy::needless_range_loop,
    reason = "arithmetic on public constants and indices; loops over several arrays of vectors in step"
)]

use super::super::constants::*;
use super::super::lanes::{Chunk, Place, V16};
use super::rader7::{Bounds, Correlated, Correlation, POWER, logarithm};
use super::{GROUP, Row, Transform, array, array_mut, dft3, dft3_bound, load_group};

/// Field and transform of sntrup857.
pub(crate) struct Ring857;

const Q: i16 = 5167;
const QL: i64 = Q as i64;
/// Roots of order 7, 9 and 3.
const W7: i64 = root_of_unity(7, QL);
const W9: i64 = root_of_unity(9, QL);
const W3: i64 = power(W9, 3, QL);

/// Constants of the nine-point transform as three times three points.
struct Nine {
    w3: Factor,
    /// w₉, w₉², w₉², w₉⁴: the twiddle factors between the two layers.
    twiddle: [[Factor; 2]; 2],
}

impl Nine {
    const fn new(w9: i64) -> Self {
        Self {
            w3: Factor::splat(power(w9, 3, QL), Q),
            twiddle: [
                [Factor::splat(w9, Q), Factor::splat(power(w9, 2, QL), Q)],
                [Factor::splat(power(w9, 2, QL), Q), Factor::splat(power(w9, 4, QL), Q)],
            ],
        }
    }
}

static FORWARD_9: Nine = Nine::new(W9);
static INVERSE_9: Nine = Nine::new(reciprocal(W9, QL));
static FORWARD_7: Correlation = Correlation::new(W7, W3, 1, Q);
/// The inverse divides by 126 and multiplies by the 2¹⁶ that the product lost.
static INVERSE_7: Correlation = Correlation::new(reciprocal(W7, QL), W3, (1 << 16) * reciprocal(126, QL), Q);

static ROOTS: [Factor; 14] = {
    let (mut roots, mut group) = ([Factor::splat(0, Q); 14], 0);
    while group < 14 {
        let (mut lanes, mut lane) = ([0; 16], 0);
        while lane < 16 {
            let point = 8 * group + lane / 2;
            if point < 108 {
                let (k18, m) = (point / 6, point % 6);
                lanes[lane] = power(W7, POWER[(6 - m) % 6] as i64, QL) * power(-W9, k18 as i64, QL);
            }
            lane += 1;
        }
        roots[group] = Factor::lanes(lanes, Q);
        group += 1;
    }
    roots
};

/// The number mod 18 that is `parity` mod 2 and `k9` mod 9.
const fn column(parity: usize, k9: usize) -> usize {
    if k9 % 2 == parity { k9 } else { k9 + 9 }
}

/// For each column s, the output t whose chunk 108 + s lies beyond the degree of M.
const fn special(s: usize) -> usize {
    (108 + s) % 7
}

/// The row of [`special`]; where it is output 0, which has none, rows stay as they are.
const fn special_row(s: usize) -> usize {
    if special(s) == 0 { 0 } else { logarithm(special(s)) }
}

/// Where column s writes. Entry m is output t = special·3^-m, but entry 0 is output 0. Where output 0 is the special
/// one, entry m is t = 3^-m and all are there.
static PLACES: [[Place<108>; 6]; 18] = {
    let (mut places, mut s) = ([[Place::new(0); 6]; 18], 0);
    while s < 18 {
        let mut m = 0;
        while m < 6 {
            let power = POWER[(6 - m) % 6];
            let t = match (special(s), m) {
                (0, _) => power,
                (_, 0) => 0,
                (t, _) => t * power % 7,
            };
            let mut i = s;
            while i % 7 != t {
                i += 18;
            }
            places[s][m] = Place::new(i);
            m += 1;
        }
        s += 1;
    }
    places
};

/// Of the nine-point transform's middle: reductions of the untwisted third, products for the rest.
const fn nine_middle(x: i32) -> i32 {
    let first = fits(dft3_bound::<Ring857>(x));
    super::larger(bar_bound::<Ring857>(first), mul_bound::<Ring857>(first))
}
/// Of a column before its seven-point transform.
const COLUMN_BOUND: i32 = bar_bound::<Ring857>(fits(dft3_bound::<Ring857>(nine_middle(Ring857::INPUT_BOUND))));
const FORWARD_BOUNDS: Bounds = Bounds::new::<Ring857>(COLUMN_BOUND);
const BASE_BOUND: i32 = COLUMN_BOUND + FORWARD_BOUNDS.part;
/// Of the sums and differences of two points.
const TWO_BOUND: i32 = bar_bound::<Ring857>(fits(2 * Ring857::PRODUCT_BOUND));
const INVERSE_COLUMN_BOUND: i32 = bar_bound::<Ring857>(fits(dft3_bound::<Ring857>(nine_middle(TWO_BOUND))));
const INVERSE_BOUNDS: Bounds = Bounds::new::<Ring857>(INVERSE_COLUMN_BOUND);

/// Nine-point transform, inputs in order, output k at k.
#[inline(always)]
fn nine<V: V16>(token: V::Token, x: [V; 9], c: &Nine, middle: i32) -> [V; 9] {
    let [a0, a1, a2] = dft3::<Ring857, V>(token, [x[0], x[3], x[6]], &c.w3);
    let [b0, b1, b2] = dft3::<Ring857, V>(token, [x[1], x[4], x[7]], &c.w3);
    let [c0, c1, c2] = dft3::<Ring857, V>(token, [x[2], x[5], x[8]], &c.w3);
    let a0 = bar::<Ring857, V>(token, a0).within(middle);
    let a1 = bar::<Ring857, V>(token, a1).within(middle);
    let a2 = bar::<Ring857, V>(token, a2).within(middle);
    let b0 = bar::<Ring857, V>(token, b0).within(middle);
    let b1 = mul::<Ring857, V>(token, b1, &c.twiddle[0][0]).within(middle);
    let b2 = mul::<Ring857, V>(token, b2, &c.twiddle[0][1]).within(middle);
    let c0 = bar::<Ring857, V>(token, c0).within(middle);
    let c1 = mul::<Ring857, V>(token, c1, &c.twiddle[1][0]).within(middle);
    let c2 = mul::<Ring857, V>(token, c2, &c.twiddle[1][1]).within(middle);
    let [y0, y3, y6] = dft3::<Ring857, V>(token, [a0, b0, c0], &c.w3);
    let [y1, y4, y7] = dft3::<Ring857, V>(token, [a1, b1, c1], &c.w3);
    let [y2, y5, y8] = dft3::<Ring857, V>(token, [a2, b2, c2], &c.w3);
    [y0, y1, y2, y3, y4, y5, y6, y7, y8]
}

/// Eighteen-point transform of the chunks r, r + 7, …, which sit at different residues mod 9.
#[inline(always)]
fn eighteen<const R: usize, V: V16>(token: V::Token, input: &[Row; 54], columns: &mut [[Chunk; 7]; 18]) {
    let (mut plain, mut signed) = ([V::zero(token); 9], [V::zero(token); 9]);
    for j in 0..8 {
        let i = R + 7 * j;
        if i < 54 {
            let x = V::load_at(token, &input[i]).within(Ring857::INPUT_BOUND);
            plain[i % 9] = x;
            signed[i % 9] = if i % 2 == 1 { V::zero(token).sub(x) } else { x };
        }
    }
    let middle = const { nine_middle(Ring857::INPUT_BOUND) };
    let even = nine(token, plain, &FORWARD_9, middle);
    for k in 0..9 {
        bar::<Ring857, V>(token, even[k]).within(COLUMN_BOUND).store(&mut columns[column(0, k)][R]);
    }
    let odd = nine(token, signed, &FORWARD_9, middle);
    for k in 0..9 {
        bar::<Ring857, V>(token, odd[k]).within(COLUMN_BOUND).store(&mut columns[column(1, k)][R]);
    }
}

/// Inverse eighteen-point transform of the points in row M, sorted into the columns' order for their correlation.
#[inline(always)]
fn eighteen_inverse<const M: usize, V: V16>(token: V::Token, points: &[Chunk; 112], columns: &mut [Chunk; 108]) {
    let (mut plain, mut signed) = ([V::zero(token); 9], [V::zero(token); 9]);
    for k in 0..9 {
        let even = V::load(token, &points[6 * column(0, k) + M]).within(Ring857::PRODUCT_BOUND);
        let odd = V::load(token, &points[6 * column(1, k) + M]).within(Ring857::PRODUCT_BOUND);
        plain[k] = bar::<Ring857, V>(token, even.add(odd)).within(TWO_BOUND);
        signed[k] = bar::<Ring857, V>(token, even.sub(odd)).within(TWO_BOUND);
    }
    let middle = const { nine_middle(TWO_BOUND) };
    let even = nine(token, plain, &INVERSE_9, middle);
    for k in 0..9 {
        let s = column(0, k);
        let to = &mut columns[6 * s + (6 + special_row(s) - M) % 6];
        bar::<Ring857, V>(token, even[k]).within(INVERSE_COLUMN_BOUND).store(to);
    }
    let odd = nine(token, signed, &INVERSE_9, middle);
    for k in 0..9 {
        let s = column(1, k);
        let to = &mut columns[6 * s + (6 + special_row(s) - M) % 6];
        bar::<Ring857, V>(token, odd[k]).within(INVERSE_COLUMN_BOUND).store(to);
    }
}

/// Inverse seven-point transform of column s, less the output whose chunk lies beyond the degree of M.
///
/// With `ZERO` that is output 0, else it is the correlation's output 0. The base is in every output but output 0.
#[inline(always)]
fn seven_inverse<const ZERO: bool, V: V16>(
    token: V::Token,
    column: &[Chunk; 6],
    places: &[Place<108>; 6],
    wide: &mut [Chunk; 108],
) {
    let a = [
        V::load(token, &column[0]),
        V::load(token, &column[1]),
        V::load(token, &column[2]),
        V::load(token, &column[3]),
        V::load(token, &column[4]),
        V::load(token, &column[5]),
    ];
    let parts = Correlated::new::<Ring857>(token, a, &INVERSE_7, &INVERSE_BOUNDS);
    let excess = mul::<Ring857, V>(token, parts.sum, &INVERSE_7.excess);
    let base = V::zero(token).sub(if ZERO { excess } else { parts.first() }).within(INVERSE_BOUNDS.first);
    let mut y = parts.outputs::<Ring857>(token, base, &INVERSE_7);
    if !ZERO {
        y[0] = excess.add(base);
    }
    for m in 0..6 {
        bar::<Ring857, V>(token, y[m]).within(Ring857::WIDE_BOUND).store(places[m].of(wide));
    }
}

impl Modulus for Ring857 {
    const Q: i16 = Q;
}

impl Transform for Ring857 {
    const P: usize = 857;
    const GROUPS: usize = 14;
    const WIDE: usize = 108;
    const SCRATCH: usize = 126;
    const POINT_BOUND: i32 = bar_bound::<Self>(fits(BASE_BOUND + FORWARD_BOUNDS.without_base()));
    const WIDE_BOUND: i32 = bar_bound::<Self>(fits(INVERSE_BOUNDS.less_first()));

    fn roots() -> &'static [Factor] {
        &ROOTS
    }

    #[inline(always)]
    fn forward<V: V16>(token: V::Token, input: &[Row], scratch: &mut [Chunk], points: &mut [Chunk]) {
        let input: &[Row; 54] = array(input);
        let points: &mut [Chunk; 112] = array_mut(points);
        let (columns, _) = array_mut::<_, 126>(scratch).as_chunks_mut::<7>();
        let columns: &mut [[Chunk; 7]; 18] = columns.try_into().expect("eighteen columns");
        macro_rules! rows {
            ($($r:literal)*) => { $(eighteen::<$r, V>(token, input, columns);)* };
        }
        rows!(0 1 2 3 4 5 6);

        for (column, out) in columns.iter().zip(points.as_chunks_mut::<6>().0) {
            let mut a = [V::zero(token); 6];
            for n in 0..6 {
                a[n] = V::load(token, &column[POWER[n]]);
            }
            let parts = Correlated::new::<Self>(token, a, &FORWARD_7, &FORWARD_BOUNDS);
            let base = parts.base::<Self>(token, &FORWARD_7).add(V::load(token, &column[0])).within(BASE_BOUND);
            let y = parts.outputs::<Self>(token, base, &FORWARD_7);
            for m in 0..6 {
                bar::<Self, V>(token, y[m]).within(Self::POINT_BOUND).store(&mut out[m]);
            }
        }
        for padding in &mut points[108..] {
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
        let points: &mut [Chunk; 112] = array_mut(points);
        let columns: &mut [Chunk; 108] = array_mut(&mut scratch[..108]);
        macro_rules! rows {
            ($($m:literal)*) => { $(eighteen_inverse::<$m, V>(token, points, columns);)* };
        }
        rows!(0 1 2 3 4 5);
        // All points are read; their place takes the result.
        let wide: &mut [Chunk; 108] = array_mut(&mut points[..108]);

        let columns = columns.as_chunks::<6>().0;
        for (s, column) in columns.iter().enumerate() {
            if special(s) == 0 {
                seven_inverse::<true, V>(token, column, &PLACES[s], wide);
            } else {
                seven_inverse::<false, V>(token, column, &PLACES[s], wide);
            }
        }
    }
}
