//! Random small and short elements for batches: exactly uniform, from fewer random bits than the specification's
//! procedure takes.
//!
//! The specification fixes a procedure so that known answers can be published; keys made in batches have none, so only
//! the distribution counts. The specification's distributions are the uniform ones over small and over short elements;
//! its procedures come within about 2^-30 a coefficient of the first, and miss the second by the order of equal 30-bit
//! numbers, which occur in one element of 3700. What follows comes within 2^-61 of them, in statistical distance, for
//! a whole element. Throughout, random words are taken to be independent and uniform; they come from `Drbg`.
//!
//! # Small elements
//!
//! A uniform byte is accepted if it is below 243 = 3^5. Given that, it is uniform among 243 numbers, so its five
//! digits to the base 3 are independent uniform trits. Each coefficient takes one digit of one accepted byte. Which
//! bytes are rejected depends on nothing but the bytes that are thrown away and on how many there are; the accepted
//! bytes are independent of it. So the pattern of rejections may become known.
//!
//! # Short elements
//!
//! A short element is a uniform w-subset S of the p positions, with uniform independent signs on it.
//!
//! **Conditioning.** If every position is put into S independently with probability t, a set of w elements has
//! probability t^w (1-t)^(p-w), the same for all of them. So S, given that it has w elements, is a uniform w-subset,
//! for every t.
//!
//! **Splitting.** Call the last 64 positions the tail, the others the head. Draw the head: every position with
//! probability t. Let W be its weight. Conditioned on the event that S has w elements, the tail has weight k = w - W,
//! and given k it is a uniform k-subset of the 64 positions, independent of the head. The head that was drawn occurs
//! jointly with that event with probability Pr(head) Pr(Binomial(64, t) = k). So: draw a head; accept it with
//! probability A(k) = Pr(Binomial(64, t) = k) / max, where the maximum is taken over all k, and otherwise draw a new
//! head (rejection sampling). Then draw a uniform k-subset of the tail.
//!
//! **The choice of t** matters for the speed only. t = (2^m - 1)/2^(m+1) takes m + 1 random bits: one that must be
//! clear, and m that must not all be set. m = 2 (t = 3/8) is nearest to w/p for p = 761 and 857, m = 3 (t = 7/16) for
//! p = 653; the probability of acceptance is then 0.29, 0.27 and 0.31.
//!
//! **The only error.** A(k) is rounded down to a multiple of 2^-63 and compared with 63 random bits. With h(k) the
//! probability that the head's weight is w - k, the probability to accept in one trial is T = sum of h(k) A(k) > 1/4,
//! and rounding takes less than 2^-63 away from it. The law of what is accepted therefore moves by less than 2^-63 / T
//! < 2^-61 in statistical distance.
//!
//! **The tail.** 64 numbers of 31 random bits, the first k of them tagged, are sorted; the tags show the subset. If
//! the numbers are distinct, their order is a uniform permutation, so the subset is exactly uniform. If two are equal,
//! all are drawn again: whether that happens depends on the numbers and not on the tags, so it changes nothing. The
//! weights k enter only as the number of tags.
//!
//! **What becomes known.** That a head was rejected: it depends, given the head that is accepted in the end, on
//! nothing but heads that are thrown away; trials are independent. That numbers were equal: likewise. Never the
//! weight, the accepted head, or the order.
//!
//! Signs are p more bits.

use crate::backend::Kernels;
use crate::backend::sample::{TAIL, Trial};
use crate::ct::{self, Disclosed};
use crate::drbg::Drbg;
use crate::params::{LANES, Params};
use crate::ring::{R3, Short};
use crate::wipe::{Array, Plain, Secret, wipe};

/// Numbers below this limit are accepted as bytes of five trits.
const FIVE_TRITS: u8 = 3u8.pow(5);
/// Random bytes that are drawn at once for a small element.
const TRIT_BYTES: usize = 64;

/// Vectors of bytes of five trits that a small element takes: so many that five times them cover it.
const fn segment_rows<P: Params>() -> usize {
    P::P.div_ceil(5).div_ceil(LANES)
}

/// Words of 64 bits that hold one bit for each coefficient.
const fn bit_words<P: Params>() -> usize {
    P::P.div_ceil(64)
}

/// Most such vectors and most bit words of all sets, and room for the random words of a head.
const MAX_SEGMENT_ROWS: usize = 11;
const MAX_BIT_WORDS: usize = 14;
const MAX_HEAD_WORDS: usize = 2 * (4 * 13 + 1);

/// A uniform small element.
pub(crate) fn small<P: Params, K: Kernels>(drbg: &mut Drbg<K>) -> R3<P> {
    let k = drbg.kernels();
    const { assert!(segment_rows::<P>() <= MAX_SEGMENT_ROWS && 5 * LANES * segment_rows::<P>() >= P::Coeffs::LEN) };
    let mut bytes = [[0; LANES]; MAX_SEGMENT_ROWS + 1];
    let mut random = [0; TRIT_BYTES];
    let (mut len, wanted) = (0, LANES * segment_rows::<P>());
    while len < wanted {
        drbg.fill_bytes(&mut random);
        // Harmless: see "Small elements" above.
        let accepted = ct::declassify_bits(ct::below(&random, FIVE_TRITS), Disclosed::RejectedBytes);
        for (i, &byte) in random.iter().enumerate() {
            // A rejected byte is overwritten by the next; one that is too many lies beyond those wanted.
            bytes.as_flattened_mut()[len] = i16::from(byte);
            len = (len + (accepted >> i & 1) as usize).min(wanted);
        }
    }
    let element = R3::build(|out: &mut P::Coeffs| {
        let (rows, _) = out.as_mut_slice().as_chunks_mut();
        k.trits(&mut bytes[..segment_rows::<P>()], rows);
        out.as_mut_slice()[P::P..].fill(0);
    });
    wipe(&mut random);
    wipe(&mut bytes);
    element
}

/// `n` uniform short elements.
///
/// Eight of them are made at a time; any number costs as much as the next multiple of eight.
pub(crate) fn short<P: Params, K: Kernels>(n: usize, drbg: &mut Drbg<K>) -> Vec<Short<P>> {
    let k = drbg.kernels();
    let mut elements = Vec::with_capacity(n);
    let mut eight = Secret::<[Bits; 8]>::zeroed();
    while elements.len() < n {
        let mut weights = [0; 8];
        for (bits, weight) in eight.iter_mut().zip(&mut weights) {
            *weight = head::<P, K>(drbg, &mut bits.nonzero);
        }
        tails::<P, K>(drbg, &weights, &mut eight);
        wipe(&mut weights);
        for bits in eight.iter_mut().take(n - elements.len()) {
            drbg.fill_u64(&mut bits.negative[..bit_words::<P>()]);
            elements.push(Short::build(|out: &mut P::Coeffs| {
                let (rows, _) = out.as_mut_slice().as_chunks_mut();
                k.expand(&bits.nonzero, &bits.negative, rows);
            }));
        }
    }
    elements
}

/// One bit for each coefficient, least significant first: whether it is not zero, and if so, whether it is -1.
#[derive(Clone, Copy, Default)]
struct Bits {
    nonzero: [u64; MAX_BIT_WORDS],
    negative: [u64; MAX_BIT_WORDS],
}

#[allow(unsafe_code)]
// SAFETY: it consists of arrays of integers.
unsafe impl Plain for Bits {}

/// Draws heads until one is accepted; clears the bits of the tail, and returns the weight that the tail must have.
fn head<P: Params, K: Kernels>(drbg: &mut Drbg<K>, nonzero: &mut [u64; MAX_BIT_WORDS]) -> u32 {
    let trial = const { &Theta::<P>::TRIAL };
    let words = trial.positions.div_ceil(64);
    let mut random = [0; MAX_HEAD_WORDS];
    let random = &mut random[..trial.planes * words + 1];
    nonzero.fill(0);
    loop {
        drbg.fill_u64(random);
        let (choice, planes) = random.split_last().expect("one word more than the planes");
        let (weight, accepted) = drbg.kernels().head(trial, planes, *choice, &mut nonzero[..words]);
        if ct::declassify(accepted, Disclosed::RejectedHead) {
            wipe(random);
            return weight;
        }
    }
}

/// Draws tails of the given weights for eight elements.
fn tails<P: Params, K: Kernels>(drbg: &mut Drbg<K>, weights: &[u32; 8], eight: &mut [Bits; 8]) {
    let mut tails = [[0; 8]; TAIL];
    let bits = loop {
        drbg.fill(tails.as_flattened_mut());
        for (i, row) in (0..).zip(&mut tails) {
            for (number, &weight) in row.iter_mut().zip(weights) {
                // The borrow of i - weight: 1 for the first `weight` rows.
                *number = *number & !1 | i32::wrapping_sub(i, weight as i32).cast_unsigned() >> 31;
            }
        }
        let (bits, ties) = drbg.kernels().sort_tails(&mut tails);
        // Harmless: see "What becomes known" above.
        if !ct::declassify(ties, Disclosed::EqualNumbers) {
            break bits;
        }
    };
    wipe(&mut tails);
    let (word, shift) = ((P::P - TAIL) >> 6, (P::P - TAIL) & 63);
    for (element, bits) in eight.iter_mut().zip(bits) {
        element.nonzero[word] |= bits << shift;
        element.nonzero[word + 1] = bits >> (64 - shift);
    }
}

/// The probability t = (2^m - 1)/2^(m+1) of a set.
struct Theta<P>(std::marker::PhantomData<P>);

impl<P: Params> Theta<P> {
    /// m: the number in 1..=5 that brings t nearest to w/p.
    const M: usize = {
        let (mut best, mut m) = (1, 2);
        while m <= 5 {
            // |t - w/p| times 64 p
            if Self::distance(m) < Self::distance(best) {
                best = m;
            }
            m += 1;
        }
        best
    };

    const fn distance(m: usize) -> u64 {
        let scaled = (((1u64 << m) - 1) << (5 - m)) * P::P as u64;
        scaled.abs_diff(64 * P::W as u64)
    }

    /// With A(k) of the module documentation, times 2^63, rounded down.
    const TRIAL: Trial = Trial {
        positions: P::P - TAIL,
        planes: Self::M + 1,
        weight: P::W as u32,
        acceptance: acceptance((1 << Self::M) - 1, 1 << (Self::M + 1)),
    };
}

/// Unsigned integers of 320 bits, least significant limb first.
type Wide = [u64; 5];

/// `x` times `factor`, which must not exceed 320 bits.
const fn times(x: Wide, factor: u64) -> Wide {
    let (mut out, mut carry, mut i) = ([0; 5], 0, 0);
    while i < 5 {
        let product = x[i] as u128 * factor as u128 + carry;
        out[i] = product as u64;
        carry = product >> 64;
        i += 1;
    }
    assert!(carry == 0, "the product exceeds 320 bits");
    out
}

/// Whether `x` < `y`.
const fn less(x: Wide, y: Wide) -> bool {
    let mut i = 5;
    while i > 0 {
        i -= 1;
        if x[i] != y[i] {
            return x[i] < y[i];
        }
    }
    false
}

/// `x` - `y`, which must not be negative.
const fn minus(x: Wide, y: Wide) -> Wide {
    let (mut out, mut borrow, mut i) = ([0; 5], false, 0);
    while i < 5 {
        let (difference, borrow_y) = x[i].overflowing_sub(y[i]);
        let (difference, borrow_carry) = difference.overflowing_sub(borrow as u64);
        (out[i], borrow) = (difference, borrow_y | borrow_carry);
        i += 1;
    }
    assert!(!borrow, "the difference is negative");
    out
}

/// For k = 0, ..., 64: the probability that Binomial(64, t) is k, divided by the largest of them, times 2^63, rounded
/// down, where t = `numerator`/`denominator`.
const fn acceptance(numerator: u64, denominator: u64) -> [u64; TAIL + 1] {
    // C(64, k) numerator^k (denominator - numerator)^(64 - k)
    let mut weights = [[0; 5]; TAIL + 1];
    let binomials = binomials();
    let (mut k, mut largest) = (0, [0; 5]);
    while k <= TAIL {
        let (mut weight, mut i) = ([binomials[k], 0, 0, 0, 0], 0);
        while i < TAIL {
            weight = times(weight, if i < k { numerator } else { denominator - numerator });
            i += 1;
        }
        weights[k] = weight;
        if less(largest, weight) {
            largest = weight;
        }
        k += 1;
    }
    // Long division, bit by bit.
    let mut table = [0; TAIL + 1];
    k = 0;
    while k <= TAIL {
        let (mut rest, mut i) = (weights[k], 0);
        while i < 64 {
            table[k] <<= 1;
            if !less(rest, largest) {
                rest = minus(rest, largest);
                table[k] |= 1;
            }
            rest = times(rest, 2);
            i += 1;
        }
        k += 1;
    }
    table
}

/// C(64, k) for k = 0, ..., 64, by Pascal's triangle.
const fn binomials() -> [u64; TAIL + 1] {
    let mut row = [0; TAIL + 1];
    row[0] = 1;
    let mut n = 1;
    while n <= TAIL {
        let mut k = n;
        while k > 0 {
            row[k] += row[k - 1];
            k -= 1;
        }
        n += 1;
    }
    row
}

#[cfg(test)]
#[allow(clippy::integer_division, clippy::integer_division_remainder_used, reason = "the oracles divide")]
mod tests {
    use super::*;
    use crate::backend::Portable;
    use crate::params::{Sntrup653, Sntrup761, Sntrup857};
    use crate::rng::{RandomError, RandomSource};

    /// A seed that is the same in every run.
    struct Seed(u8);

    impl RandomSource for Seed {
        fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
            for byte in out {
                *byte = self.0;
                self.0 = self.0.wrapping_mul(5).wrapping_add(1);
            }
            Ok(())
        }
    }

    fn drbg<K: Kernels>(seed: u8, k: K) -> Drbg<K> {
        Drbg::new(&mut Seed(seed), k).unwrap()
    }

    /// Unsigned integers of any size, least significant digit first, to the base 2^32: the oracle of the table.
    fn product(x: &[u32], factor: u32) -> Vec<u32> {
        let mut carry = 0;
        let mut out = Vec::new();
        for digit in x.iter().copied().chain([0]) {
            carry += u64::from(digit) * u64::from(factor);
            out.push(carry as u32);
            carry >>= 32;
        }
        assert_eq!(carry, 0);
        out.truncate(out.iter().rposition(|&digit| digit != 0).map_or(0, |i| i + 1));
        out
    }

    fn cmp(x: &[u32], y: &[u32]) -> std::cmp::Ordering {
        x.len().cmp(&y.len()).then_with(|| x.iter().rev().cmp(y.iter().rev()))
    }

    fn sum(x: &[u32], y: &[u32]) -> Vec<u32> {
        let mut carry = 0;
        let digit = |x: &[u32], i: usize| u64::from(x.get(i).copied().unwrap_or(0));
        let mut out: Vec<u32> = (0..x.len().max(y.len()) + 1)
            .map(|i| {
                carry += digit(x, i) + digit(y, i);
                let low = carry as u32;
                carry >>= 32;
                low
            })
            .collect();
        out.truncate(out.iter().rposition(|&digit| digit != 0).map_or(0, |i| i + 1));
        out
    }

    /// `x` times a number of 64 bits.
    fn scaled(x: &[u32], factor: u64) -> Vec<u32> {
        let mut high = product(x, (factor >> 32) as u32);
        if !high.is_empty() {
            high.insert(0, 0);
        }
        sum(&high, &product(x, factor as u32))
    }

    fn acceptance_table_of<P: Params>(m: usize, expected_rate: f64) {
        assert_eq!(Theta::<P>::M, m);
        let (numerator, denominator) = ((1u32 << m) - 1, 1u32 << (m + 1));
        // Binomial weights from scratch: C(64, k) by Pascal's rule over big integers.
        let mut row: Vec<Vec<u32>> = vec![vec![1]];
        for _ in 0..64 {
            let mut next = vec![vec![1]];
            next.extend(row.windows(2).map(|pair| sum(&pair[0], &pair[1])));
            next.push(vec![1]);
            row = next;
        }
        let weights: Vec<Vec<u32>> = row
            .into_iter()
            .enumerate()
            .map(|(k, mut weight)| {
                for i in 0..64 {
                    weight = product(&weight, if i < k { numerator } else { denominator - numerator });
                }
                weight
            })
            .collect();
        let largest = weights.iter().max_by(|x, y| cmp(x, y)).unwrap();
        for (weight, &entry) in weights.iter().zip(&Theta::<P>::TRIAL.acceptance) {
            // entry <= 2^63 weight / largest < entry + 1
            let target = scaled(weight, 1 << 63);
            assert!(cmp(&scaled(largest, entry), &target).is_le(), "{} is too large", entry);
            assert!(cmp(&scaled(largest, entry + 1), &target).is_gt(), "{} is too small", entry);
        }
        assert_eq!(Theta::<P>::TRIAL.acceptance.iter().max(), Some(&(1 << 63)));
        // T: the head's weight is Binomial(p - 64, t).
        let t = f64::from(numerator) / f64::from(denominator);
        let n = P::P - TAIL;
        let mut rate = 0.0;
        let mut log_factorial = vec![0.0];
        for i in 1..=n {
            log_factorial.push(log_factorial[i - 1] + (i as f64).ln());
        }
        for (k, &entry) in Theta::<P>::TRIAL.acceptance.iter().enumerate() {
            let weight = P::W - k;
            let log = log_factorial[n] - log_factorial[weight] - log_factorial[n - weight];
            let h = (log + weight as f64 * t.ln() + (n - weight) as f64 * (1.0 - t).ln()).exp();
            rate += h * entry as f64 / (1u64 << 63) as f64;
        }
        assert!(rate > 0.25 && (rate - expected_rate).abs() < 0.005, "{}: acceptance {rate}", P::NAME);
    }

    #[test]
    fn acceptance_tables_are_exact() {
        acceptance_table_of::<Sntrup653>(3, 0.31);
        acceptance_table_of::<Sntrup761>(2, 0.29);
        acceptance_table_of::<Sntrup857>(2, 0.27);
    }

    #[test]
    fn acceptance_compares_with_the_table() {
        let trial = const { &Theta::<Sntrup761>::TRIAL };
        // Heads of any wanted weight: the first plane clears what is not chosen, the second is zero.
        let accepts = |weight_of_tail: i32, choice: u64| {
            let chosen = 286 - weight_of_tail;
            let mut planes = [0; 33];
            for i in 0..697 {
                planes[3 * (i >> 6)] |= u64::from(i as i32 >= chosen) << (i & 63);
            }
            let mut positions = [0; 11];
            let (rest, accepted) = Portable.head(trial, &planes, choice, &mut positions);
            assert_eq!(rest.cast_signed(), weight_of_tail);
            assert_eq!(positions.iter().map(|word| word.count_ones()).sum::<u32>(), chosen.cast_unsigned());
            accepted
        };
        for (k, &entry) in (0..).zip(&trial.acceptance) {
            if entry > 0 {
                assert_eq!(accepts(k, (entry - 1) << 1 | 1), u32::MAX);
            }
            if entry < 1 << 63 {
                assert_eq!(accepts(k, entry << 1), 0);
            }
        }
        assert!([65, 286, -1, -64, -411].into_iter().all(|k| accepts(k, 0) == 0));
    }

    #[test]
    fn planes_choose_as_they_should() {
        for (trial, planes) in [(&Theta::<Sntrup761>::TRIAL, 3), (&Theta::<Sntrup653>::TRIAL, 4)] {
            assert_eq!(trial.planes, planes);
            // Every pattern of bits once: bit i of plane j is bit j of i.
            let patterns: Vec<u64> = (0..planes).map(|j| (0..64).fold(0, |word, i| word | (i >> j & 1) << i)).collect();
            let mut chosen = [0];
            let one_word = Trial { positions: 64, planes, weight: 64, acceptance: trial.acceptance };
            Portable.head(&one_word, &patterns, 0, &mut chosen);
            for i in 0..64 {
                let set = (1 << (planes - 1)) - 1;
                assert_eq!(chosen[0] >> i & 1 == 1, i & 1 == 0 && i >> 1 & set != set, "pattern {i}");
            }
        }
    }

    /// Sum of (observed - expected)^2 / expected, for equal expectations, divided by the degrees of freedom.
    fn chi_square(observed: &[u64], expected: f64) -> f64 {
        let sum: f64 = observed.iter().map(|&x| (x as f64 - expected).powi(2) / expected).sum();
        sum / (observed.len() - 1) as f64
    }

    /// Sizes and seeds are fixed, so these tests pass or fail for good. The bounds are five standard deviations and
    /// more wide.
    const SAMPLES: usize = 4000;

    fn small_elements_of<P: Params>(k: impl Kernels) {
        let mut drbg = drbg(1, k);
        let (mut trits, mut pairs) = (vec![[0; 3]; P::P], [0; 9]);
        for _ in 0..SAMPLES {
            let element = small::<P, _>(&mut drbg);
            let (coeffs, padding) = element.coeffs().as_slice().split_at(P::P);
            assert!(padding.iter().all(|&x| x == 0));
            for (counts, &x) in trits.iter_mut().zip(coeffs) {
                counts[(x + 1) as usize] += 1;
            }
            // Digits of one byte against each other: they lie a segment apart.
            for (&x, &y) in coeffs.iter().zip(&coeffs[LANES * segment_rows::<P>()..]) {
                pairs[(3 * (x + 1) + y + 1) as usize] += 1;
            }
        }
        let mean = trits.iter().map(|counts| chi_square(counts, SAMPLES as f64 / 3.0)).sum::<f64>() / P::P as f64;
        assert!((mean - 1.0).abs() < 5.0 / (P::P as f64).sqrt(), "{}: trits, chi square {mean}", P::NAME);
        let total = pairs.iter().sum::<u64>() as f64;
        let pairs = chi_square(&pairs, total / 9.0);
        assert!(pairs < 3.5, "{}: digits of a byte, chi square {pairs}", P::NAME);
    }

    fn short_elements_of<P: Params>(k: impl Kernels) {
        let mut drbg = drbg(2, k);
        let (mut chosen, mut minus) = (vec![0; P::P], vec![0; P::P]);
        let (mut tail_sum, mut tail_squares) = (0.0, 0.0);
        let mut agreements = vec![0; P::P];
        let elements = short::<P, _>(SAMPLES, &mut drbg);
        assert_eq!(elements.len(), SAMPLES);
        for element in &elements {
            let (coeffs, padding) = element.coeffs().as_slice().split_at(P::P);
            assert!(padding.iter().all(|&x| x == 0) && coeffs.iter().all(|x| (-1..=1).contains(x)));
            assert_eq!(coeffs.iter().filter(|&&x| x != 0).count(), P::W);
            for (i, &x) in coeffs.iter().enumerate() {
                chosen[i] += u64::from(x != 0);
                minus[i] += u64::from(x == -1);
                agreements[i] += u64::from((x != 0) == (coeffs[P::P - 1 - i] != 0));
            }
            let tail = coeffs[P::P - TAIL..].iter().filter(|&&x| x != 0).count() as f64;
            tail_sum += tail;
            tail_squares += tail * tail;
        }
        let (p, w, n, t) = (P::P as f64, P::W as f64, SAMPLES as f64, TAIL as f64);
        // A position is chosen with probability w/p; the counts have the variance of a Bernoulli variable.
        let ratio = w / p;
        let spread = |counts: &[u64], ratio: f64| {
            let variance = n * ratio * (1.0 - ratio);
            counts.iter().map(|&c| (c as f64 - n * ratio).powi(2) / variance).sum::<f64>() / counts.len() as f64
        };
        let bound = 5.0 * (2.0 / p).sqrt();
        let positions = spread(&chosen, ratio);
        assert!((positions - 1.0).abs() < bound, "{}: positions, {positions}", P::NAME);
        let negatives = spread(&minus, ratio / 2.0);
        assert!((negatives - 1.0).abs() < bound, "{}: signs, {negatives}", P::NAME);
        // Head against tail: position i and p - 1 - i are both chosen or both not.
        let both = (w * (w - 1.0) + (p - w) * (p - w - 1.0)) / (p * (p - 1.0));
        let mirrored = spread(&agreements[P::P - TAIL..], both);
        assert!((mirrored - 1.0).abs() < 5.0 * (2.0 / t).sqrt(), "{}: pairs, {mirrored}", P::NAME);
        // The tail's weight is hypergeometric.
        let mean = t * ratio;
        let variance = t * ratio * (1.0 - ratio) * (p - t) / (p - 1.0);
        let (got_mean, got_variance) = (tail_sum / n, tail_squares / n - (tail_sum / n).powi(2));
        assert!(
            (got_mean - mean).abs() < 5.0 * (variance / n).sqrt(),
            "{}: tail weight {got_mean} for {mean}",
            P::NAME
        );
        assert!((got_variance / variance - 1.0).abs() < 5.0 * (2.0 / n).sqrt(), "{}: {got_variance}", P::NAME);
    }

    fn distributions<P: Params>() {
        small_elements_of::<P>(Portable);
        short_elements_of::<P>(Portable);
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = crate::backend::Avx2::detect().expect("this test needs a processor with AVX2");
            let (mut mine, mut oracle) = (drbg(4, avx2), drbg(4, Portable));
            for _ in 0..20 {
                let (a, b) = (small::<P, _>(&mut mine), small::<P, _>(&mut oracle));
                assert_eq!(a.coeffs().as_slice(), b.coeffs().as_slice());
            }
            for (a, b) in short::<P, _>(100, &mut mine).iter().zip(&short::<P, _>(100, &mut oracle)) {
                assert_eq!(a.coeffs().as_slice(), b.coeffs().as_slice());
            }
        }
    }

    #[test]
    fn distributions_of_sntrup653() {
        distributions::<Sntrup653>();
    }

    #[test]
    fn distributions_of_sntrup761() {
        distributions::<Sntrup761>();
    }

    #[test]
    fn distributions_of_sntrup857() {
        distributions::<Sntrup857>();
    }

    #[test]
    fn any_number_of_short_elements() {
        for n in [0, 1, 7, 8, 9, 17] {
            assert_eq!(short::<Sntrup761, _>(n, &mut drbg(3, Portable)).len(), n);
        }
    }

    #[test]
    fn equal_numbers_are_found() {
        let distinct: [[u32; 8]; TAIL] = std::array::from_fn(|i| {
            std::array::from_fn(|lane| ((i as u32) << 9 | (lane as u32) << 3).wrapping_mul(0x9e37_79b3) & !1)
        });
        assert_eq!(Portable.sort_tails(&mut distinct.clone()).1, 0);
        for lane in 0..8 {
            for (a, b, tag) in [(0, 63, 0), (5, 6, 1), (40, 2, 1)] {
                let mut tied = distinct;
                tied[a][lane] = tied[b][lane] ^ tag;
                assert_ne!(Portable.sort_tails(&mut tied).1, 0, "lane {lane}");
            }
        }
    }
}
