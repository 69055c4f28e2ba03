//! The seven-point transform of sntrup653 and sntrup857 without its inputs and outputs 0: a correlation of length six
//! over the powers of the generator 3 (Rader), by three-point transforms, for which the field has the root w₃.
#![allow(
    clippy::integer_division,
    clippy::integer_division_remainder_used,
    clippy::modulo_arithmetic,
    reason = "arithmetic on public constants and indices"
)]

use super::super::constants::*;
use super::super::lanes::V16;
use super::{dft3, dft3_bound, larger};

/// 3^n mod 7: input n is number 3^n, and output m is number 3^-m.
pub(super) const POWER: [usize; 6] = [1, 3, 2, 6, 4, 5];

/// n with 3^n = k mod 7, for k in 1..7.
pub(super) const fn logarithm(k: usize) -> usize {
    let mut n = 0;
    while POWER[n] != k {
        n += 1;
    }
    n
}

/// Constants of Y_m = Σ_n A_n W_{n-m} with W_j = w^(3^j).
///
/// z⁶ - 1 = (z³ - 1)(z³ + 1). Modulo z³ - 1 the correlation is a product of three-point transforms; z -> -z turns the
/// other half into the same.
pub(super) struct Correlation {
    /// Factors of the transformed sums A_n + A_{n+3}; the first acts on the sum of all inputs.
    even: [Factor; 3],
    /// Factors of the transformed differences.
    odd: [Factor; 3],
    /// The scale by itself, for output 0 of the whole transform.
    pub(super) scale: Factor,
    /// The scale less the first of `even`.
    pub(super) excess: Factor,
    w3: Factor,
}

impl Correlation {
    /// All outputs are multiplied by `scale`.
    pub(super) const fn new(w: i64, w3: i64, scale: i64, q: i16) -> Self {
        let ql = q as i64;
        let half = reciprocal(2, ql);
        let zero = Factor::splat(0, q);
        let mut new = Self { even: [zero; 3], odd: [zero; 3], scale: Factor::splat(scale, q), excess: zero, w3: zero };
        new.w3 = Factor::splat(w3, q);
        let mut k = 0;
        while k < 3 {
            let (mut even, mut odd, mut j) = (0, 0, 0);
            while j < 3 {
                let (a, b) = (power(w, POWER[j] as i64, ql), power(w, POWER[j + 3] as i64, ql));
                let turn = power(w3, (3 - k as i64) * j as i64, ql);
                let sign = if j == 1 { -1 } else { 1 };
                even += center((a + b) * half, ql) * turn;
                odd += sign * center((a - b) * half, ql) * turn;
                j += 1;
            }
            let third = center(reciprocal(3, ql) * center(scale, ql), ql);
            let even = center(center(even, ql) * third, ql);
            new.even[k] = Factor::splat(even, q);
            new.odd[k] = Factor::splat(center(odd, ql) * third, q);
            if k == 0 {
                new.excess = Factor::splat(scale - even, q);
            }
            k += 1;
        }
        new
    }
}

/// Bounds of [`Correlated`] for inputs within `a`.
pub(super) struct Bounds {
    /// Of the sum of all inputs.
    sum: i32,
    /// Of a product in the transformed domain, such as the base.
    pub(super) part: i32,
    odd: i32,
    /// Of outputs 0 and 3 without the base: two parts and the three of the odd half's output 0.
    pub(super) first: i32,
    /// Of the others without the base: three parts and two products of differences of parts.
    rest: i32,
}

impl Bounds {
    pub(super) const fn new<M: Modulus>(a: i32) -> Self {
        let part = mul_bound::<M>(fits(dft3_bound::<M>(2 * a)));
        let rest = 3 * part + 2 * mul_bound::<M>(2 * part);
        Self { sum: 6 * a, part, odd: dft3_bound::<M>(part), first: 5 * part, rest }
    }

    /// Of an output without the base.
    pub(super) const fn without_base(&self) -> i32 {
        larger(self.first, self.rest)
    }

    /// Of an output less [`Correlated::first`]. Output 3 is then twice the odd half's output 0.
    pub(super) const fn less_first(&self) -> i32 {
        larger(6 * self.part, self.first + self.rest)
    }
}

/// A correlation but for the base, the product of the sum of all inputs, which is the same in all outputs.
pub(super) struct Correlated<V> {
    even: [V; 2],
    odd: [V; 3],
    /// Sum of all inputs.
    pub(super) sum: V,
}

impl<V: V16> Correlated<V> {
    #[inline(always)]
    pub(super) fn new<M: Modulus>(token: V::Token, a: [V; 6], c: &Correlation, bounds: &Bounds) -> Self {
        let s = [a[0].add(a[3]), a[1].add(a[4]), a[2].add(a[5])];
        let d = [a[0].sub(a[3]), a[4].sub(a[1]), a[2].sub(a[5])];
        let s = dft3::<M, V>(token, s, &c.w3);
        let even = [
            mul::<M, V>(token, s[1], &c.even[1]).within(bounds.part),
            mul::<M, V>(token, s[2], &c.even[2]).within(bounds.part),
        ];
        let d = dft3::<M, V>(token, d, &c.w3);
        let d = [
            mul::<M, V>(token, d[0], &c.odd[0]).within(bounds.part),
            mul::<M, V>(token, d[1], &c.odd[1]).within(bounds.part),
            mul::<M, V>(token, d[2], &c.odd[2]).within(bounds.part),
        ];
        // The inverse transform is the forward one with outputs 1 and 2 exchanged; so are the inputs then.
        let odd = dft3::<M, V>(token, [d[0], d[2], d[1]], &c.w3);
        let odd = [odd[0].within(bounds.odd), odd[1].within(bounds.odd), odd[2].within(bounds.odd)];
        Self { even, odd, sum: s[0].within(bounds.sum) }
    }

    /// The base that belongs to this correlation.
    #[inline(always)]
    pub(super) fn base<M: Modulus>(&self, token: V::Token, c: &Correlation) -> V {
        mul::<M, V>(token, self.sum, &c.even[0])
    }

    /// Output 0 without the base.
    #[inline(always)]
    pub(super) fn first(&self) -> V {
        self.even[0].add(self.even[1]).add(self.odd[0])
    }

    /// All outputs, with any base.
    #[inline(always)]
    pub(super) fn outputs<M: Modulus>(&self, token: V::Token, base: V, c: &Correlation) -> [V; 6] {
        let [e0, e1, e2] = dft3::<M, V>(token, [base, self.even[1], self.even[0]], &c.w3);
        let [o0, o1, o2] = self.odd;
        // The middle output of the odd half takes the sign of z -> -z.
        [e0.add(o0), e1.sub(o1), e2.add(o2), e0.sub(o0), e1.add(o1), e2.sub(o2)]
    }
}
