//! The transform of sntrup761: q = 4591, M(y) = Φ₁₇(y⁶) = (y¹⁰² - 1)/(y⁶ - 1), 96 points.
//!
//! Chunk i sits at (i mod 6, i mod 17). A point is ζ = (-w₃)^k₆ · w₁₇^k₁₇ with k₁₇ ≠ 0; it is stored in column k₆ at
//! row m where k₁₇ = 3^-m mod 17, because the 17-point transform without its output 0 is a correlation over the powers
//! of the generator 3 (Rader).
#![allow(
    clippy::integer_division,
    clippy::integer_division_remainder_used,
    clippy::modulo_arithmetic,
    clippy::needless_range_loop,
    reason = "arithmetic on public constants and indices; loops over several arrays of vectors in step"
)]

use super::super::constants::*;
use super::super::lanes::{Chunk, Place, V16};
use super::{GROUP, Row, Transform, array, array_mut, dft3, dft3_bound};

/// Field and transform of sntrup761.
pub(crate) struct Ring761;

const Q: i16 = 4591;
const QL: i64 = Q as i64;
/// A root of order 3 and one of order 17.
const W3: i64 = root_of_unity(3, QL);
const W17: i64 = root_of_unity(17, QL);

/// 3^n mod 17.
const POWER: [usize; 16] = {
    let (mut powers, mut n) = ([1; 16], 1);
    while n < 16 {
        powers[n] = powers[n - 1] * 3 % 17;
        n += 1;
    }
    powers
};

/// n with 3^n = k mod 17, for k in 1..17.
const fn logarithm(k: usize) -> usize {
    let mut n = 0;
    while POWER[n] != k {
        n += 1;
    }
    n
}

/// Constants of a length-16 correlation Y_m = Σ_n A_n W_{n-m}, split as z¹⁶ - 1 = (z-1)(z+1)(z²+1)(z⁴+1)(z⁸+1).
struct Correlation {
    /// z⁸ + 1: matrix rows, four pairs each.
    m8: [[Chunk; 4]; 8],
    /// z⁴ + 1.
    m4: [[Chunk; 2]; 4],
    /// z² + 1.
    m2: [Chunk; 2],
    /// z + 1.
    minus: Factor,
    /// z - 1, or what takes its place.
    plus: Factor,
}

/// Entry (m, n) of the matrix that correlates modulo z^N + 1 with `kernel`.
const fn negacyclic<const N: usize>(kernel: &[i64; N], m: usize, n: usize) -> i64 {
    if n >= m { kernel[n - m] } else { -kernel[N + n - m] }
}

/// The halves (W_j ± W_{j+N})/2 of a kernel of length 2N, as (minus, plus).
const fn split<const N2: usize, const N: usize>(kernel: &[i64; N2]) -> ([i64; N], [i64; N]) {
    let half = reciprocal(2, QL);
    let (mut minus, mut plus, mut j) = ([0; N], [0; N], 0);
    while j < N {
        minus[j] = center((kernel[j] - kernel[j + N]) * half, QL);
        plus[j] = center((kernel[j] + kernel[j + N]) * half, QL);
        j += 1;
    }
    (minus, plus)
}

impl Correlation {
    /// For W_j = w^(3^j), all times `scale`. The inverse needs `plus` for output 0 less the part z - 1 of the others.
    const fn new(w: i64, scale: i64, inverse: bool) -> Self {
        let (mut kernel, mut n) = ([0; 16], 0);
        while n < 16 {
            kernel[n] = center(power(w, POWER[n] as i64, QL) * scale, QL);
            n += 1;
        }
        let (k8, kernel) = split::<16, 8>(&kernel);
        let (k4, kernel) = split::<8, 4>(&kernel);
        let (k2, kernel) = split::<4, 2>(&kernel);
        let ([minus], [plus]) = split::<2, 1>(&kernel);
        let mut new = Self {
            m8: [[Chunk::ZERO; 4]; 8],
            m4: [[Chunk::ZERO; 2]; 4],
            m2: [Chunk::ZERO; 2],
            minus: Factor::splat(minus, Q),
            plus: Factor::splat(if inverse { scale - plus } else { plus }, Q),
        };
        let mut m = 0;
        while m < 8 {
            let mut t = 0;
            while t < 4 {
                new.m8[m][t] = pair(negacyclic(&k8, m, 2 * t), negacyclic(&k8, m, 2 * t + 1), Q);
                if m < 4 && t < 2 {
                    new.m4[m][t] = pair(negacyclic(&k4, m, 2 * t), negacyclic(&k4, m, 2 * t + 1), Q);
                }
                if m < 2 && t < 1 {
                    new.m2[m] = pair(negacyclic(&k2, m, 0), negacyclic(&k2, m, 1), Q);
                }
                t += 1;
            }
            m += 1;
        }
        new
    }
}

static FORWARD: Correlation = Correlation::new(W17, 1, false);
/// The inverse divides by 102 and multiplies by the 2¹⁶ that the product lost.
static INVERSE: Correlation = Correlation::new(reciprocal(W17, QL), center((1 << 16) * reciprocal(102, QL), QL), true);
static W3_FORWARD: Factor = Factor::splat(W3, Q);
static W3_INVERSE: Factor = Factor::splat(W3 * W3, Q);

static ROOTS: [Factor; 12] = {
    let (mut roots, mut group) = ([Factor::splat(0, Q); 12], 0);
    while group < 12 {
        let (mut lanes, mut lane) = ([0; 16], 0);
        while lane < 16 {
            let m = (group & 1) * 8 + lane / 2;
            let root = power(W17, POWER[(16 - m) % 16] as i64, QL) * power(-W3, group as i64 / 2, QL);
            lanes[lane] = root;
            lane += 1;
        }
        roots[group] = Factor::lanes(lanes, Q);
        group += 1;
    }
    roots
};

/// For each column s, the row that holds chunk 96 + s, whose coefficient M(y) does not have: 3^L = (96 + s) mod 17.
const SPECIAL: [usize; 6] = {
    let (mut rows, mut s) = ([0; 6], 0);
    while s < 6 {
        rows[s] = logarithm((96 + s) % 17);
        s += 1;
    }
    rows
};

/// Where column s writes: entry 0 for output 0, entry m for output t = (96 + s)·3^-m.
static PLACES: [[Place<96>; 16]; 6] = {
    let (mut places, mut s) = ([[Place::new(0); 16]; 6], 0);
    while s < 6 {
        let mut m = 0;
        while m < 16 {
            let t = if m == 0 { 0 } else { (96 + s) * POWER[16 - m] % 17 };
            let mut i = s;
            while i % 17 != t {
                i += 6;
            }
            places[s][m] = Place::new(i);
            m += 1;
        }
        s += 1;
    }
    places
};

/// Bounds of [`Correlated`] for inputs within `a`.
struct Bounds {
    folded: i32,
    m8: i32,
    m4: i32,
    m2: i32,
    /// Of either one-point part.
    one: i32,
}

impl Bounds {
    const fn new(a: i32) -> Self {
        let folded = bar_bound::<Ring761>(fits(4 * a));
        Self {
            folded,
            m8: reduce_wide_bound::<Ring761>(8, 2 * a, Ring761::HALF),
            m4: reduce_wide_bound::<Ring761>(4, 4 * a, Ring761::HALF),
            m2: reduce_wide_bound::<Ring761>(2, 2 * folded, Ring761::HALF),
            one: mul_bound::<Ring761>(4 * folded),
        }
    }

    /// Of an output without the part modulo z - 1.
    const fn without_base(&self) -> i32 {
        self.m8 + self.m4 + self.m2 + self.one
    }
}

/// A correlation but for its part modulo z - 1, which is the same in all outputs.
struct Correlated<V> {
    m8: [V; 8],
    m4: [V; 4],
    m2: [V; 2],
    minus: V,
    /// Sum of all inputs.
    sum: V,
}

impl<V: V16> Correlated<V> {
    #[inline(always)]
    fn new(token: V::Token, a: [V; 16], c: &Correlation, bounds: &Bounds) -> Self {
        let zero = V::zero(token);
        let (mut s, mut d) = ([zero; 8], [zero; 8]);
        for n in 0..8 {
            s[n] = a[n].add(a[n + 8]);
            d[n] = a[n].sub(a[n + 8]);
        }
        let (mut even, mut odd) = ([zero; 4], [zero; 4]);
        for t in 0..4 {
            even[t] = d[2 * t].pairs_even(d[2 * t + 1]);
            odd[t] = d[2 * t].pairs_odd(d[2 * t + 1]);
        }
        let mut m8 = [zero; 8];
        for m in 0..8 {
            let row: [V; 4] = [
                V::load(token, &c.m8[m][0]),
                V::load(token, &c.m8[m][1]),
                V::load(token, &c.m8[m][2]),
                V::load(token, &c.m8[m][3]),
            ];
            let (mut x, mut y) = (even[0].madd(row[0]), odd[0].madd(row[0]));
            for t in 1..4 {
                x = V::add_wide(x, even[t].madd(row[t]));
                y = V::add_wide(y, odd[t].madd(row[t]));
            }
            m8[m] = reduce_wide::<Ring761, V>(token, x, y).within(bounds.m8);
        }

        let (mut p, mut r) = ([zero; 4], [zero; 4]);
        for n in 0..4 {
            p[n] = bar::<Ring761, V>(token, s[n].add(s[n + 4])).within(bounds.folded);
            r[n] = s[n].sub(s[n + 4]);
        }
        let (even, odd) =
            ([r[0].pairs_even(r[1]), r[2].pairs_even(r[3])], [r[0].pairs_odd(r[1]), r[2].pairs_odd(r[3])]);
        let mut m4 = [zero; 4];
        for m in 0..4 {
            let row: [V; 2] = [V::load(token, &c.m4[m][0]), V::load(token, &c.m4[m][1])];
            let x = V::add_wide(even[0].madd(row[0]), even[1].madd(row[1]));
            let y = V::add_wide(odd[0].madd(row[0]), odd[1].madd(row[1]));
            m4[m] = reduce_wide::<Ring761, V>(token, x, y).within(bounds.m4);
        }

        let (u, v) = ([p[0].sub(p[2]), p[1].sub(p[3])], [p[0].add(p[2]), p[1].add(p[3])]);
        let (even, odd) = (u[0].pairs_even(u[1]), u[0].pairs_odd(u[1]));
        let mut m2 = [zero; 2];
        for m in 0..2 {
            let row = V::load(token, &c.m2[m]);
            m2[m] = reduce_wide::<Ring761, V>(token, even.madd(row), odd.madd(row)).within(bounds.m2);
        }
        let minus = mul::<Ring761, V>(token, v[0].sub(v[1]), &c.minus).within(bounds.one);
        Self { m8, m4, m2, minus, sum: v[0].add(v[1]) }
    }

    /// Output 0 without the part modulo z - 1.
    #[inline(always)]
    fn first(&self) -> V {
        self.minus.add(self.m2[0]).add(self.m4[0]).add(self.m8[0])
    }

    /// All outputs, with `base` as the part modulo z - 1.
    #[inline(always)]
    fn outputs(&self, base: V) -> [V; 16] {
        let one = [base.add(self.minus), base.sub(self.minus)];
        let two = [one[0].add(self.m2[0]), one[1].add(self.m2[1]), one[0].sub(self.m2[0]), one[1].sub(self.m2[1])];
        let mut out = [base; 16];
        for m in 0..8 {
            let four = if m < 4 { two[m].add(self.m4[m]) } else { two[m - 4].sub(self.m4[m - 4]) };
            out[m] = four.add(self.m8[m]);
            out[m + 8] = four.sub(self.m8[m]);
        }
        out
    }
}

/// Six-point transform of the chunks r, r + 17, r + 34, which sit at three different residues mod 3.
#[inline(always)]
fn six<const R: usize, V: V16>(token: V::Token, input: &[Row; 48], columns: &mut [[Chunk; 17]; 6]) {
    let mut z = [V::zero(token); 3];
    z[R % 3] = V::load_at(token, &input[R]).within(Ring761::INPUT_BOUND);
    if R + 34 < 48 {
        z[(R + 34) % 3] = V::load_at(token, &input[R + 34]).within(Ring761::INPUT_BOUND);
    }
    let middle = V::load_at(token, &input[R + 17]).within(Ring761::INPUT_BOUND);
    // Chunk r + 17 has the other parity. For odd r the odd outputs come with all signs exchanged.
    z[(R + 17) % 3] = middle;
    let even = dft3::<Ring761, V>(token, z, &W3_FORWARD);
    z[(R + 17) % 3] = V::zero(token).sub(middle);
    let odd = dft3::<Ring761, V>(token, z, &W3_FORWARD);
    for k3 in 0..3 {
        // Column k with k = 0 mod 2 and k = k3 mod 3, and its odd counterpart.
        even[k3].within(SIX_BOUND).store(&mut columns[4 * k3 % 6][R]);
        let signed = if R % 2 == 1 { V::zero(token).sub(odd[k3]) } else { odd[k3] };
        signed.within(SIX_BOUND).store(&mut columns[(4 * k3 + 3) % 6][R]);
    }
}

/// Of a column before its 17-point transform.
const SIX_BOUND: i32 = dft3_bound::<Ring761>(Ring761::INPUT_BOUND);
const FORWARD_BOUNDS: Bounds = Bounds::new(SIX_BOUND);
const INVERSE_SIX_BOUND: i32 = bar_bound::<Ring761>(fits(dft3_bound::<Ring761>(2 * Ring761::PRODUCT_BOUND)));
const INVERSE_BOUNDS: Bounds = Bounds::new(INVERSE_SIX_BOUND);
/// The base of the forward transform: chunk 0 of the column and the part modulo z - 1.
const BASE_BOUND: i32 = SIX_BOUND + FORWARD_BOUNDS.one;

impl Modulus for Ring761 {
    const Q: i16 = Q;
}

impl Transform for Ring761 {
    const P: usize = 761;
    const GROUPS: usize = 12;
    const WIDE: usize = 96;
    const SCRATCH: usize = 102;
    const POINT_BOUND: i32 = bar_bound::<Self>(fits(BASE_BOUND + FORWARD_BOUNDS.without_base()));
    const WIDE_BOUND: i32 = bar_bound::<Self>(fits(2 * INVERSE_BOUNDS.without_base()));

    fn roots() -> &'static [Factor] {
        &ROOTS
    }

    #[inline(always)]
    fn forward<V: V16>(token: V::Token, input: &[Row], scratch: &mut [Chunk], points: &mut [Chunk]) {
        let input: &[Row; 48] = array(input);
        let points: &mut [Chunk; 96] = array_mut(points);
        let (columns, []) = array_mut::<_, 102>(scratch).as_chunks_mut::<17>() else { unreachable!("102 = 6 * 17") };
        let columns: &mut [[Chunk; 17]; 6] = columns.try_into().expect("six columns");
        macro_rules! rows {
            ($($r:literal)*) => { $(six::<$r, V>(token, input, columns);)* };
        }
        rows!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);

        let (groups, _) = points.as_chunks_mut::<16>();
        for (column, out) in columns.iter().zip(groups) {
            let mut a = [V::zero(token); 16];
            for n in 0..16 {
                a[n] = V::load(token, &column[POWER[n]]);
            }
            let parts = Correlated::new(token, a, &FORWARD, &FORWARD_BOUNDS);
            let base = mul::<Self, V>(token, parts.sum, &FORWARD.plus).add(V::load(token, &column[0]));
            let mut y = parts.outputs(base.within(BASE_BOUND));
            for m in 0..16 {
                y[m] = bar::<Self, V>(token, y[m]).within(Self::POINT_BOUND);
            }
            let low = V::transpose([y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7]]);
            let high = V::transpose([y[8], y[9], y[10], y[11], y[12], y[13], y[14], y[15]]);
            for m in 0..GROUP {
                low[m].store(&mut out[m]);
                high[m].store(&mut out[m + 8]);
            }
        }
    }

    #[inline(always)]
    fn inverse<V: V16>(token: V::Token, points: &mut [Chunk], scratch: &mut [Chunk]) {
        let points: &mut [Chunk; 96] = array_mut(points);
        let scratch: &mut [Chunk; 96] = array_mut(&mut scratch[..96]);
        macro_rules! rows {
            ($($m:literal)*) => { $(six_inverse::<$m, V>(token, points, scratch);)* };
        }
        rows!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        // All points are read; their place takes the result.
        let wide: &mut [Chunk; 96] = points;

        for (column, places) in scratch.as_chunks::<16>().0.iter().zip(&PLACES) {
            let mut a = [V::zero(token); 16];
            for n in 0..16 {
                a[n] = V::load(token, &column[n]);
            }
            // The polynomial is known modulo y^102 - 1 up to multiples of M: subtract, in each column, the entry whose
            // chunk lies beyond the degree of M. It is the correlation's output 0, and base is in every output.
            let parts = Correlated::new(token, a, &INVERSE, &INVERSE_BOUNDS);
            let base = V::zero(token).sub(parts.first()).within(INVERSE_BOUNDS.without_base());
            let zeroth = mul::<Self, V>(token, parts.sum, &INVERSE.plus).add(base);
            let mut y = parts.outputs(base);
            y[0] = zeroth;
            for m in 0..16 {
                bar::<Self, V>(token, y[m]).within(Self::WIDE_BOUND).store(places[m].of(wide));
            }
        }
    }
}

/// Inverse six-point transform of the points with k₁₇ = 3^-m, sorted into the columns' order for their correlation.
#[inline(always)]
fn six_inverse<const M: usize, V: V16>(token: V::Token, points: &[Chunk; 96], columns: &mut [Chunk; 96]) {
    let (mut sum, mut difference) = ([V::zero(token); 3], [V::zero(token); 3]);
    for k3 in 0..3 {
        let even = V::load(token, &points[16 * (4 * k3 % 6) + M]).within(Ring761::PRODUCT_BOUND);
        let odd = V::load(token, &points[16 * ((4 * k3 + 3) % 6) + M]).within(Ring761::PRODUCT_BOUND);
        sum[k3] = even.add(odd);
        difference[k3] = even.sub(odd);
    }
    let sum = dft3::<Ring761, V>(token, sum, &W3_INVERSE);
    let difference = dft3::<Ring761, V>(token, difference, &W3_INVERSE);
    for i3 in 0..3 {
        for (s, value) in [(4 * i3 % 6, sum[i3]), ((4 * i3 + 3) % 6, difference[i3])] {
            // Input n of column s is k = 3^n / (96 + s), and k = 3^-M.
            let n = (16 + SPECIAL[s] - M) % 16;
            bar::<Ring761, V>(token, value).within(INVERSE_SIX_BOUND).store(&mut columns[16 * s + n]);
        }
    }
}
