//! Products in R/q by one transform over Z_q.
//!
//! A polynomial is split into chunks of sixteen coefficients, y = x¹⁶, and multiplied modulo M(y), a divisor of y^N - 1
//! with N | q - 1 whose degree holds the whole product. [`Transform::forward`] evaluates at the roots ζ of M, lane by
//! lane; what is left at each root is a product of two polynomials of sixteen coefficients modulo x¹⁶ - ζ
//! ([`Multiply`]); [`Transform::inverse`] interpolates; [`fold`] reduces modulo x^p - x - 1.
//!
//! | set | M(y) | points | transform |
//! |---|---|---:|---|
//! | sntrup653 | y⁸⁴ - 1 | 84 | 4·3·7 |
//! | sntrup761 | Φ₁₇(y⁶) | 96 | 2·3·17 without output 0 of the 17 |
//! | sntrup857 | Φ₇(y¹⁸) | 108 | 2·9·7 without output 0 of the 7 |
//!
//! The coprime parts need no twiddle factors between them (Good and Thomas: chunk i sits at its residues). The prime
//! parts are correlations (Rader). docs/bounds.md tells the ranges; every stage asserts them in debug builds.
#![allow(
    clippy::integer_division,
    clippy::integer_division_remainder_used,
    clippy::modulo_arithmetic,
    clippy::needless_range_loop,
    reason = "arithmetic on public constants and indices; loops over several arrays of vectors in step"
)]

pub(crate) mod cyclic;
pub(crate) mod phi17;
pub(crate) mod phi7;
mod rader7;

use super::constants::*;
use super::lanes::{Chunk, Kernel, V16, flat};
use core::marker::PhantomData;

/// Sixteen coefficients of a polynomial, wherever they lie.
pub(crate) type Row = [i16; 16];

/// Points of one group: as many pairs as a vector holds.
const GROUP: usize = 8;

/// One parameter set's transform.
///
/// The transformed form keeps eight points together, transposed by pairs: chunk m of a group holds the coefficients
/// (2m, 2m+1) of the eight points. The points of a product come back one chunk a point.
pub(crate) trait Transform: Modulus {
    /// Degree of the ring.
    const P: usize;
    /// Chunks of a polynomial, ⌈p/16⌉.
    const CHUNKS: usize = Self::P.div_ceil(16);
    /// Groups of eight points.
    const GROUPS: usize;
    /// Chunks of the transformed form and of a product's points.
    const POINTS: usize = GROUP * Self::GROUPS;
    /// Chunks of an unreduced product, the degree of M.
    const WIDE: usize;
    /// Chunks of scratch that either direction needs.
    const SCRATCH: usize;

    /// Largest coefficient that [`Transform::forward`] takes: that of a folded product, which is three reduced
    /// coefficients, reduced.
    const INPUT_BOUND: i32 = bar_bound::<Self>(3 * bar_bound::<Self>(i16::MAX as i32));
    /// Largest coefficient of the transformed form.
    const POINT_BOUND: i32;
    /// Largest coefficient at a point of a product.
    const PRODUCT_BOUND: i32 = reduce_wide_bound::<Self>(16, Self::POINT_BOUND, Self::POINT_BOUND);
    /// Largest coefficient of an unreduced product.
    const WIDE_BOUND: i32;

    /// The roots ζ, eight to a group, each for both lanes of its pair.
    fn roots() -> &'static [Factor];

    /// Evaluates a polynomial of `CHUNKS` rows at all points.
    fn forward<V: V16>(token: V::Token, input: &[Row], scratch: &mut [Chunk], points: &mut [Chunk]);

    /// Turns a product's points into the polynomial modulo M, `WIDE` chunks, times 2¹⁶ (which [`Multiply`] has divided by).
    fn inverse<V: V16>(token: V::Token, points: &mut [Chunk], scratch: &mut [Chunk]);
}

/// The slice as an array; its length was fixed by the parameter set.
#[inline(always)]
fn array<T, const N: usize>(chunks: &[T]) -> &[T; N] {
    chunks.try_into().expect("a buffer of the parameter set's own length")
}

/// The slice as an array, to be written.
#[inline(always)]
fn array_mut<T, const N: usize>(chunks: &mut [T]) -> &mut [T; N] {
    chunks.try_into().expect("a buffer of the parameter set's own length")
}

/// Three-point transform: outputs z0 + w^k z1 + w^2k z2 for k = 0, 1, 2, with one multiplication because 1 + w + w² = 0.
///
/// The outputs are within [`dft3_bound`].
#[inline(always)]
fn dft3<M: Modulus, V: V16>(token: V::Token, z: [V; 3], w: &Factor) -> [V; 3] {
    let turned = mul::<M, V>(token, z[1].sub(z[2]), w);
    [z[0].add(z[1]).add(z[2]), z[0].sub(z[2]).add(turned), z[0].sub(z[1]).sub(turned)]
}

/// Largest output of [`dft3`] for inputs within `z`.
const fn dft3_bound<M: Modulus>(z: i32) -> i32 {
    larger(3 * z, 2 * z + mul_bound::<M>(2 * z))
}

const fn larger(a: i32, b: i32) -> i32 {
    if a > b { a } else { b }
}

/// How many times larger the b-form is than the transformed form.
pub(crate) const PREPARED_FACTOR: usize = PREPARED / GROUP;

/// Chunks of the b-form of a group; see [`prepare_group`].
const PREPARED: usize = 32;

/// The b-form of eight points: chunk 16 + k holds the pairs (b_k, b_{k-1}) for k = -15..=15, where b_{k-16} = ζ·b_k.
/// Chunk 0 is unused.
#[inline(always)]
fn prepare_group<M: Modulus, V: V16>(token: V::Token, b: &[Chunk; GROUP], zeta: &Factor, out: &mut [Chunk; PREPARED]) {
    let mut previous = V::zero(token);
    for half in 0..2 {
        for m in 0..GROUP {
            let plain = V::load(token, &b[m]);
            let pair = if half == 0 { mul::<M, V>(token, plain, zeta) } else { plain };
            let at = 16 * half + 2 * m;
            if at > 0 {
                pair.blend_odd(previous).store(&mut out[at]);
            }
            pair.swap_pairs(token).store(&mut out[at + 1]);
            previous = pair;
        }
    }
}

/// Products of eight points modulo x¹⁶ - ζ, one chunk a point.
///
/// c_i = Σ_m ⟨(a_2m, a_2m+1), (b_{i-2m}, b_{i-2m-1})⟩: sixteen products, each of the operands within `POINT_BOUND`.
#[inline(always)]
fn multiply_group<T: Transform, V: V16>(
    token: V::Token,
    a: &[Chunk; GROUP],
    b: &[Chunk; PREPARED],
    out: &mut [Chunk; GROUP],
) {
    let a: [V; GROUP] = load_group(token, a);
    // Unrolled by hand: the compiler would keep a loop, at five instructions a turn.
    outputs::<T, 0, V>(token, &a, b, out);
    outputs::<T, 1, V>(token, &a, b, out);
    outputs::<T, 2, V>(token, &a, b, out);
    outputs::<T, 3, V>(token, &a, b, out);
    outputs::<T, 4, V>(token, &a, b, out);
    outputs::<T, 5, V>(token, &a, b, out);
    outputs::<T, 6, V>(token, &a, b, out);
    outputs::<T, 7, V>(token, &a, b, out);
    let c = V::transpose(load_group(token, out));
    for m in 0..GROUP {
        c[m].store(&mut out[m]);
    }
}

#[inline(always)]
fn load_group<V: V16>(token: V::Token, from: &[Chunk; GROUP]) -> [V; GROUP] {
    [
        V::load(token, &from[0]),
        V::load(token, &from[1]),
        V::load(token, &from[2]),
        V::load(token, &from[3]),
        V::load(token, &from[4]),
        V::load(token, &from[5]),
        V::load(token, &from[6]),
        V::load(token, &from[7]),
    ]
}

/// Outputs 2I and 2I + 1 of [`multiply_group`], as pairs.
#[inline(always)]
fn outputs<T: Transform, const I: usize, V: V16>(
    token: V::Token,
    a: &[V; GROUP],
    b: &[Chunk; PREPARED],
    out: &mut [Chunk; GROUP],
) {
    // The window of b that these outputs read. Hidden, so that its chunks stay memory operands.
    let window: &[Chunk; 16] = b[2 * I + 2..2 * I + 18].try_into().expect("sixteen chunks");
    let window = V::hide(token, window);
    let (even, odd) = (dot::<0, V>(token, a, window), dot::<1, V>(token, a, window));
    reduce_wide::<T, V>(token, even, odd).within(T::PRODUCT_BOUND).store(&mut out[I]);
}

/// The sum of eight pair products for output `ODD` of a window, in two chains of additions.
#[inline(always)]
fn dot<const ODD: usize, V: V16>(token: V::Token, a: &[V; GROUP], window: &[Chunk; 16]) -> V::Wide {
    let mut s = a[0].madd(V::load(token, &window[14 + ODD]));
    let mut t = a[1].madd(V::load(token, &window[12 + ODD]));
    for m in 1..4 {
        s = V::add_wide(s, a[2 * m].madd(V::load(token, &window[14 + ODD - 4 * m])));
        t = V::add_wide(t, a[2 * m + 1].madd(V::load(token, &window[12 + ODD - 4 * m])));
    }
    V::add_wide(s, t)
}

/// What a folded product becomes. The argument is a sum of at most three unreduced coefficients.
pub(crate) trait Finish: 'static {
    /// The last step, on sixteen coefficients.
    fn finish<T: Transform, V: V16>(token: V::Token, sum: V) -> V;
}

/// Some representative modulo q within [`Transform::INPUT_BOUND`]: an operand of the next product.
pub(crate) struct Loose;
/// The canonical representative modulo q.
pub(crate) struct Canonical;
/// The canonical representative modulo 3 of a product of two small elements.
pub(crate) struct Ternary;
/// The canonical representative modulo q, rounded to the nearest multiple of 3.
pub(crate) struct Rounded;
/// Three times the product modulo q, then its canonical representative modulo 3.
pub(crate) struct TripleTernary;

impl Finish for Loose {
    #[inline(always)]
    fn finish<T: Transform, V: V16>(token: V::Token, sum: V) -> V {
        const { assert!(bar_bound::<T>(fits(3 * T::WIDE_BOUND)) <= T::INPUT_BOUND) };
        bar::<T, V>(token, sum).within(T::INPUT_BOUND)
    }
}

impl Finish for Canonical {
    #[inline(always)]
    fn finish<T: Transform, V: V16>(token: V::Token, sum: V) -> V {
        freeze::<T, V>(token, sum)
    }
}

impl Finish for Ternary {
    #[inline(always)]
    fn finish<T: Transform, V: V16>(token: V::Token, sum: V) -> V {
        // A coefficient of the product is within 2p, and its other representatives are beyond the loose range.
        const { assert!(T::INPUT_BOUND + 2 * (T::P as i32) < T::Q as i32) };
        mod3(token, Loose::finish::<T, V>(token, sum).within(2 * T::P as i32))
    }
}

impl Finish for Rounded {
    #[inline(always)]
    fn finish<T: Transform, V: V16>(token: V::Token, sum: V) -> V {
        let x = freeze::<T, V>(token, sum);
        x.sub(mod3(token, x))
    }
}

impl Finish for TripleTernary {
    #[inline(always)]
    fn finish<T: Transform, V: V16>(token: V::Token, sum: V) -> V {
        const { fits(3 * T::INPUT_BOUND) };
        let x = Loose::finish::<T, V>(token, sum);
        mod3(token, freeze::<T, V>(token, x.add(x).add(x)))
    }
}

/// The canonical representative modulo 3, for |x| < 2¹⁴: 3·10923 = 2¹⁵ + 1, so the quotient is off by less than 1/6.
#[inline(always)]
fn mod3<V: V16>(token: V::Token, x: V) -> V {
    let quotient = x.mulhrs(token, 10923);
    x.sub(quotient.add(quotient).add(quotient)).within(1)
}

/// Reduces a product modulo x^p - x - 1: h_i = c_i + c_{i+p} + c_{i+p-1}, where c_{p-1} itself counts once.
#[inline(always)]
fn fold<T: Transform, F: Finish, V: V16>(token: V::Token, wide: &[Chunk], out: &mut [Row]) {
    let (wide, coefficients) = (&wide[..T::WIDE], flat(&wide[..T::WIDE]));
    let out = &mut out[..T::CHUNKS];
    for i in 0..T::CHUNKS {
        let at = 16 * i + T::P;
        let shifted: &[i16; 16] = coefficients[at - 1..at + 15].try_into().expect("sixteen lanes");
        let mut shifted = V::load_at(token, shifted);
        if i == 0 {
            let rest = const { &Chunk([0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1]) };
            shifted = shifted.and(V::load(token, rest));
        }
        let upper: &[i16; 16] = coefficients[at..at + 16].try_into().expect("sixteen lanes");
        let sum = V::load(token, &wide[i]).add(V::load_at(token, upper)).add(shifted);
        let mut x = F::finish::<T, V>(token, sum);
        if i == T::CHUNKS - 1 {
            x = x.and(V::load(token, const { &below(T::P - 16 * (T::CHUNKS - 1)) }));
        }
        x.store_at(&mut out[i]);
    }
}

/// A mask of the lanes below `n`.
const fn below(n: usize) -> Chunk {
    let (mut mask, mut i) = (Chunk::ZERO, 0);
    while i < n {
        mask.0[i] = -1;
        i += 1;
    }
    mask
}

/// Transforms a polynomial.
pub(crate) struct Forward<'a, T> {
    /// `CHUNKS` rows, coefficients within `INPUT_BOUND`, zero from p on.
    pub(crate) input: &'a [Row],
    /// `POINTS` chunks.
    pub(crate) points: &'a mut [Chunk],
    /// `SCRATCH` chunks.
    pub(crate) scratch: &'a mut [Chunk],
    pub(crate) set: PhantomData<T>,
}

impl<T: Transform> Kernel for Forward<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: V16>(self, token: V::Token) {
        T::forward::<V>(token, self.input, self.scratch, self.points);
    }
}

/// The b-form of a transformed polynomial, for products with many others.
pub(crate) struct Prepare<'a, T> {
    /// `POINTS` chunks of the transformed form.
    pub(crate) points: &'a [Chunk],
    /// Four times as many chunks.
    pub(crate) prepared: &'a mut [Chunk],
    pub(crate) set: PhantomData<T>,
}

impl<T: Transform> Kernel for Prepare<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: V16>(self, token: V::Token) {
        let groups = self.points.as_chunks::<GROUP>().0.iter().zip(self.prepared.as_chunks_mut::<PREPARED>().0);
        for ((b, out), zeta) in groups.zip(T::roots()) {
            prepare_group::<T, V>(token, b, zeta, out);
        }
    }
}

/// The points of products `a[j]·b`, one or two of them.
pub(crate) struct Multiply<'a, T, const N: usize> {
    /// Transformed operands.
    pub(crate) a: [&'a [Chunk]; N],
    /// The transformed operand that they share.
    pub(crate) b: &'a [Chunk],
    /// `POINTS` chunks each, to be given to [`Interpolate`].
    pub(crate) products: [&'a mut [Chunk]; N],
    /// `SCRATCH` chunks.
    pub(crate) scratch: &'a mut [Chunk],
    pub(crate) set: PhantomData<T>,
}

impl<T: Transform, const N: usize> Kernel for Multiply<'_, T, N> {
    type Output = ();
    #[inline(always)]
    fn run<V: V16>(self, token: V::Token) {
        let prepared: &mut [Chunk; PREPARED] = array_mut(&mut self.scratch[..PREPARED]);
        let a = self.a.map(|a| a.as_chunks::<GROUP>().0);
        let b = self.b.as_chunks::<GROUP>().0;
        let products = self.products.map(|c| c.as_chunks_mut::<GROUP>().0);
        for g in 0..T::GROUPS {
            prepare_group::<T, V>(token, &b[g], &T::roots()[g], prepared);
            for j in 0..N {
                multiply_group::<T, V>(token, &a[j][g], prepared, &mut products[j][g]);
            }
        }
    }
}

/// The points of a product with an operand in b-form.
pub(crate) struct MultiplyPrepared<'a, T> {
    /// A transformed operand.
    pub(crate) a: &'a [Chunk],
    /// The other in b-form.
    pub(crate) prepared: &'a [Chunk],
    /// `POINTS` chunks, to be given to [`Interpolate`].
    pub(crate) product: &'a mut [Chunk],
    pub(crate) set: PhantomData<T>,
}

impl<T: Transform> Kernel for MultiplyPrepared<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: V16>(self, token: V::Token) {
        let operands = self.a.as_chunks::<GROUP>().0.iter().zip(self.prepared.as_chunks::<PREPARED>().0);
        for ((a, b), product) in operands.zip(self.product.as_chunks_mut::<GROUP>().0) {
            multiply_group::<T, V>(token, a, b, product);
        }
    }
}

/// From the points of a product to the product modulo M, in place.
pub(crate) struct Interpolate<'a, T> {
    /// `POINTS` chunks from a product; then the product in the first `WIDE` of them.
    pub(crate) product: &'a mut [Chunk],
    /// `SCRATCH` chunks.
    pub(crate) scratch: &'a mut [Chunk],
    pub(crate) set: PhantomData<T>,
}

impl<T: Transform> Kernel for Interpolate<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: V16>(self, token: V::Token) {
        T::inverse::<V>(token, self.product, self.scratch);
    }
}

/// From the product modulo M to the polynomial modulo x^p - x - 1, finished as `F` says.
///
/// A kernel of its own: there are many ways to finish, and one large [`Interpolate`].
pub(crate) struct Fold<'a, T, F> {
    /// What [`Interpolate`] left: at least `WIDE` chunks.
    pub(crate) wide: &'a [Chunk],
    /// `CHUNKS` rows, zero from coefficient p on.
    pub(crate) out: &'a mut [Row],
    pub(crate) set: PhantomData<(T, F)>,
}

impl<T: Transform, F: Finish> Kernel for Fold<'_, T, F> {
    type Output = ();
    #[inline(always)]
    fn run<V: V16>(self, token: V::Token) {
        fold::<T, F, V>(token, self.wide, self.out);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::lanes::{Level, Oracle, Portable};
    use super::cyclic::Ring653;
    use super::phi7::Ring857;
    use super::phi17::Ring761;
    use super::*;

    /// A generator for tests, with a fixed seed.
    pub(crate) struct Lcg(pub(crate) u64);
    impl Lcg {
        pub(crate) fn below(&mut self, n: i64) -> i64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) as i64 % n
        }
    }

    pub(crate) fn random<T: Transform>(rng: &mut Lcg, limit: i32) -> Vec<Row> {
        filled::<T>(|_| (rng.below(2 * i64::from(limit) + 1) - i64::from(limit)) as i16)
    }

    pub(crate) fn filled<T: Transform>(mut coefficient: impl FnMut(usize) -> i16) -> Vec<Row> {
        let mut rows = vec![[0; 16]; T::CHUNKS];
        for (i, x) in rows.as_flattened_mut()[..T::P].iter_mut().enumerate() {
            *x = coefficient(i);
        }
        rows
    }

    /// The product over the integers, modulo x^p - x - 1.
    pub(crate) fn schoolbook<T: Transform>(f: &[Row], g: &[Row]) -> Vec<i64> {
        let (f, g) = (f.as_flattened(), g.as_flattened());
        let mut c = vec![0i64; 2 * T::P];
        for i in 0..T::P {
            for j in 0..T::P {
                c[i + j] += i64::from(f[i]) * i64::from(g[j]);
            }
        }
        for i in (T::P..2 * T::P).rev() {
            c[i - T::P] += c[i];
            c[i - T::P + 1] += c[i];
        }
        c.truncate(T::P);
        c
    }

    struct Stages {
        points: [Vec<Chunk>; 2],
        products: [Vec<Chunk>; 3],
        wide: Vec<Chunk>,
        loose: Vec<Row>,
        canonical: Vec<Row>,
        ternary: Option<Vec<Row>>,
    }

    fn stages<T: Transform>(level: impl Level, f: &[Row], g: &[Row], small: bool) -> Stages {
        let set = PhantomData::<T>;
        let chunks = |n| vec![Chunk::ZERO; n];
        let mut scratch = chunks(T::SCRATCH);
        let forward = |input, scratch: &mut [Chunk]| {
            let mut points = chunks(T::POINTS);
            level.run(Forward { input, points: &mut points, scratch, set });
            points
        };
        let points = [forward(f, &mut scratch), forward(g, &mut scratch)];
        let mut products = [chunks(T::POINTS), chunks(T::POINTS), chunks(T::POINTS)];
        let [c, d, e] = &mut products;
        let [a, b] = &points;
        level.run(Multiply { a: [b, a], b, products: [d, c], scratch: &mut scratch, set });
        level.run(Multiply { a: [a], b, products: [e], scratch: &mut scratch, set });
        assert!(c == e, "one product or two, the result is the same");
        let mut prepared = chunks(4 * T::POINTS);
        level.run(Prepare { points: b, prepared: &mut prepared, set });
        level.run(MultiplyPrepared { a, prepared: &prepared, product: e, set });
        assert!(c == e, "b-form on the fly or stored, the result is the same");

        let (mut wide, mut loose, mut canonical) = (chunks(T::POINTS), filled::<T>(|_| 9), filled::<T>(|_| 9));
        wide.copy_from_slice(c);
        level.run(Interpolate { product: &mut wide, scratch: &mut scratch, set });
        level.run(Fold::<T, Loose> { wide: &wide, out: &mut loose, set: PhantomData });
        level.run(Fold::<T, Canonical> { wide: &wide, out: &mut canonical, set: PhantomData });
        let ternary = small.then(|| {
            let mut out = filled::<T>(|_| 9);
            level.run(Fold::<T, Ternary> { wide: &wide, out: &mut out, set: PhantomData });
            out
        });
        wide.truncate(T::WIDE);
        Stages { points, products, wide, loose, canonical, ternary }
    }

    fn same(a: &Stages, b: &Stages) {
        assert!(a.points == b.points, "transformed forms differ");
        assert!(a.products == b.products, "products at the points differ");
        assert!(a.wide == b.wide, "unreduced products differ");
        assert!(a.loose == b.loose && a.canonical == b.canonical && a.ternary == b.ternary, "results differ");
    }

    fn agrees<T: Transform>(f: &[Row], g: &[Row], small: bool) {
        let expected = schoolbook::<T>(f, g);
        let oracle = stages::<T>(Oracle, f, g, small);
        same(&oracle, &stages::<T>(Portable, f, g, small));
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = super::super::lanes::Avx2::detect().expect("this test needs a processor with AVX2");
            same(&oracle, &stages::<T>(avx2, f, g, small));
        }
        let q = i64::from(T::Q);
        for i in 0..16 * T::CHUNKS {
            let c = expected.get(i).copied().unwrap_or(0);
            assert_eq!(center(oracle.loose.as_flattened()[i].into(), q), center(c, q), "coefficient {i}");
            assert_eq!(i64::from(oracle.canonical.as_flattened()[i]), center(c, q), "coefficient {i}");
            if let Some(ternary) = &oracle.ternary {
                assert_eq!(i64::from(ternary.as_flattened()[i]), center(c, 3), "coefficient {i} modulo 3");
            }
        }
    }

    fn products<T: Transform>() {
        let rng = &mut Lcg(1);
        let top = T::INPUT_BOUND as i16;
        let ones = filled::<T>(|_| 1);
        let extremes = [
            filled::<T>(|_| top),
            filled::<T>(|_| -top),
            filled::<T>(|i| if i % 2 == 0 { top } else { -top }),
            filled::<T>(|i| if i / 16 % 2 == 0 { top } else { -top }),
            filled::<T>(|i| if i / 48 % 2 == 0 { top } else { -top }),
            filled::<T>(|i| if i == T::P - 1 { top } else { 0 }),
            ones.clone(),
        ];
        for f in &extremes {
            for g in &extremes {
                agrees::<T>(f, g, false);
            }
        }
        agrees::<T>(&ones, &ones, true);
        for _ in 0..20 {
            let signs = |rng: &mut Lcg| filled::<T>(|_| if rng.below(2) == 0 { top } else { -top });
            let (f, g) = (signs(rng), signs(rng));
            agrees::<T>(&f, &g, false);
            let (f, g) = (random::<T>(rng, T::INPUT_BOUND), random::<T>(rng, T::INPUT_BOUND));
            agrees::<T>(&f, &g, false);
            let (f, g) = (random::<T>(rng, 1), random::<T>(rng, 1));
            agrees::<T>(&f, &g, true);
        }
    }

    /// The rows of the page on bounds that name constants of all sets are those of the code.
    #[test]
    fn the_page_on_bounds_tells_the_code_s_bounds() {
        let page = include_str!("../../docs/bounds.md");
        fn row<const N: usize>(name: &str, values: [i32; N]) -> String {
            let cells: Vec<String> = values.iter().map(|value| format!(" {value} |")).collect();
            format!("| {name} |{}", cells.concat())
        }
        for row in [
            row("input", [Ring653::INPUT_BOUND, Ring761::INPUT_BOUND, Ring857::INPUT_BOUND]),
            row("point (an evaluation, stored)", [Ring653::POINT_BOUND, Ring761::POINT_BOUND, Ring857::POINT_BOUND]),
            row("product (at a point)", [Ring653::PRODUCT_BOUND, Ring761::PRODUCT_BOUND, Ring857::PRODUCT_BOUND]),
            row("wide (interpolated, reduced)", [Ring653::WIDE_BOUND, Ring761::WIDE_BOUND, Ring857::WIDE_BOUND]),
            row(
                "fold (three of them, reduced)",
                [
                    bar_bound::<Ring653>(3 * Ring653::WIDE_BOUND),
                    bar_bound::<Ring761>(3 * Ring761::WIDE_BOUND),
                    bar_bound::<Ring857>(3 * Ring857::WIDE_BOUND),
                ],
            ),
        ] {
            assert!(page.contains(&row), "docs/bounds.md has no row {row}");
        }
    }

    #[test]
    fn products_of_sntrup653_are_right_and_alike_stage_by_stage() {
        products::<Ring653>();
    }

    #[test]
    fn products_of_sntrup857_are_right_and_alike_stage_by_stage() {
        products::<Ring857>();
    }

    #[test]
    fn products_of_sntrup761_are_right_and_alike_stage_by_stage() {
        products::<Ring761>();
    }
}
