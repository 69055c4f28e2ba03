//! Mixed-radix encoding of coefficients (specification, section "Encoding of integer sequences"), after a `Plan`, and
//! the encoding of small elements.
//!
//! A level merges neighbours, sixteen pairs at a time. Only the last pair of a level can have another radix and
//! another number of bytes: it is done by itself. Sixteens reach past the end of a level: what they compute there is
//! of no consequence, and what they write there is written over by the next level.

use super::words::{U16x16, portable};
#[cfg(target_arch = "x86_64")]
use super::{entry::avx2_kernel, lanes::Avx2, words::avx2};
use crate::fq::Fq;
use crate::params::{Level, Params, Plan, rounded_radix};
use crate::wipe::wipe;

/// Pairs that are merged or split at once.
const PAIRS: usize = 16;
/// Room for the coefficients of every set, in whole sixteens of pairs.
const MAX_VALUES: usize = 896;

/// Numbers of one level.
type Values = [u16; MAX_VALUES];

/// The encodings of a parameter set.
struct Plans<P>(std::marker::PhantomData<P>);

impl<P: Params> Plans<P> {
    const RQ: Plan = Plan::new(P::P, P::Q as u32);
    const ROUNDED: Plan = Plan::new(P::P, rounded_radix(P::Q));
    const FITS: () = assert!(P::P.next_multiple_of(2 * PAIRS) <= MAX_VALUES);
}

/// Encodes canonical coefficients into `PUBLIC_KEY_BYTES` bytes.
pub(crate) fn encode_rq_portable<P: Params>(out: &mut [u8], h: &[i16]) {
    encode_rq::<P, portable::Words16>((), out, h);
}

/// Decodes `PUBLIC_KEY_BYTES` bytes, whatever they are, to canonical coefficients.
pub(crate) fn decode_rq_portable<P: Params>(h: &mut [i16], s: &[u8]) {
    decode_rq::<P, portable::Words16>((), h, s);
}

/// Encodes canonical multiples of 3 into `CIPHERTEXT_BYTES` - 32 bytes.
pub(crate) fn encode_rounded_portable<P: Params>(out: &mut [u8], c: &[i16]) {
    encode_rounded::<P, portable::Words16>((), out, c);
}

/// Decodes `CIPHERTEXT_BYTES` - 32 bytes, whatever they are, to canonical multiples of 3.
pub(crate) fn decode_rounded_portable<P: Params>(c: &mut [i16], s: &[u8]) {
    decode_rounded::<P, portable::Words16>((), c, s);
}

/// Encodes coefficients in {-1, 0, 1}: four to a byte, each as its value plus 1 in two bits, low bits first. The spare
/// bits of the last byte are those of coefficients -1: zero.
pub(crate) fn encode_small_portable<P: Params>(out: &mut [u8], a: &[i16]) {
    encode_small::<P, portable::Words16>((), out, a);
}

/// Decodes small elements; `two` (2 or -1) stands for the value 2 of a string that no encoder made.
pub(crate) fn decode_small_portable<P: Params>(a: &mut [i16], s: &[u8], two: i16) {
    decode_small::<P, portable::Words16>((), a, s, two);
}

#[cfg(target_arch = "x86_64")]
avx2_kernel! {
    /// [`encode_rq_portable`] with AVX2.
    pub(crate) fn encode_rq_avx2<P: Params>(token: Avx2, out: &mut [u8], h: &[i16]) {
        encode_rq::<P, avx2::Words16>(token, out, h);
    }
}

#[cfg(target_arch = "x86_64")]
avx2_kernel! {
    /// [`decode_rq_portable`] with AVX2.
    pub(crate) fn decode_rq_avx2<P: Params>(token: Avx2, h: &mut [i16], s: &[u8]) {
        decode_rq::<P, avx2::Words16>(token, h, s);
    }
}

#[cfg(target_arch = "x86_64")]
avx2_kernel! {
    /// [`encode_rounded_portable`] with AVX2.
    pub(crate) fn encode_rounded_avx2<P: Params>(token: Avx2, out: &mut [u8], c: &[i16]) {
        encode_rounded::<P, avx2::Words16>(token, out, c);
    }
}

#[cfg(target_arch = "x86_64")]
avx2_kernel! {
    /// [`decode_rounded_portable`] with AVX2.
    pub(crate) fn decode_rounded_avx2<P: Params>(token: Avx2, c: &mut [i16], s: &[u8]) {
        decode_rounded::<P, avx2::Words16>(token, c, s);
    }
}

#[cfg(target_arch = "x86_64")]
avx2_kernel! {
    /// [`encode_small_portable`] with AVX2.
    pub(crate) fn encode_small_avx2<P: Params>(token: Avx2, out: &mut [u8], a: &[i16]) {
        encode_small::<P, avx2::Words16>(token, out, a);
    }
}

#[cfg(target_arch = "x86_64")]
avx2_kernel! {
    /// [`decode_small_portable`] with AVX2.
    pub(crate) fn decode_small_avx2<P: Params>(token: Avx2, a: &mut [i16], s: &[u8], two: i16) {
        decode_small::<P, avx2::Words16>(token, a, s, two);
    }
}

#[inline(always)]
fn encode_rq<P: Params, V: U16x16>(token: V::Token, out: &mut [u8], h: &[i16]) {
    let half = V::splat(token, Fq::<P>::HALF.cast_unsigned());
    let mut values = [0; MAX_VALUES];
    for (value, x) in values.as_chunks_mut().0.iter_mut().zip(h.as_chunks().0) {
        V::load_signed(token, x).add(half).store(value);
    }
    encode::<P, V>(token, const { &Plans::<P>::RQ }, out, &mut values);
}

#[inline(always)]
fn encode_rounded<P: Params, V: U16x16>(token: V::Token, out: &mut [u8], c: &[i16]) {
    let half = V::splat(token, Fq::<P>::HALF.cast_unsigned());
    // ceil(2^16 / 3): exact quotients below 2^15.
    let third = V::splat(token, 21846);
    let mut values = [0; MAX_VALUES];
    for (value, x) in values.as_chunks_mut().0.iter_mut().zip(c.as_chunks().0) {
        V::load_signed(token, x).add(half).mulhi(third).store(value);
    }
    encode::<P, V>(token, const { &Plans::<P>::ROUNDED }, out, &mut values);
}

#[inline(always)]
fn decode_rq<P: Params, V: U16x16>(token: V::Token, h: &mut [i16], s: &[u8]) {
    let half = V::splat(token, Fq::<P>::HALF.cast_unsigned());
    let mut values = [0; MAX_VALUES];
    decode::<P, V>(token, const { &Plans::<P>::RQ }, &mut values, s);
    for (x, value) in h.as_chunks_mut().0.iter_mut().zip(values.as_chunks().0) {
        V::load(token, value).sub(half).store_signed(x);
    }
    h[P::P..].fill(0);
}

#[inline(always)]
fn decode_rounded<P: Params, V: U16x16>(token: V::Token, c: &mut [i16], s: &[u8]) {
    let half = V::splat(token, Fq::<P>::HALF.cast_unsigned());
    let mut values = [0; MAX_VALUES];
    decode::<P, V>(token, const { &Plans::<P>::ROUNDED }, &mut values, s);
    for (x, value) in c.as_chunks_mut().0.iter_mut().zip(values.as_chunks().0) {
        let value = V::load(token, value);
        value.add(value).add(value).sub(half).store_signed(x);
    }
    c[P::P..].fill(0);
}

/// Encodes numbers below the plan's radix into exactly the plan's bytes, and wipes them.
#[inline(always)]
fn encode<P: Params, V: U16x16>(token: V::Token, plan: &Plan, out: &mut [u8], values: &mut Values) {
    const { Plans::<P>::FITS };
    debug_assert_eq!(out.len(), plan.bytes);
    debug_assert!(values[..P::P].iter().all(|&value| u32::from(value) < plan.levels[0].radix.value));
    for level in &plan.levels[..plan.depth - 1] {
        let half = level.len >> 1;
        let last = values[level.len - 1];
        let pair = u32::from(values[2 * half - 2]) + level.radix.value * u32::from(values[2 * half - 1]);
        let out = &mut out[level.offset..];
        match level.pair_bytes {
            0 => merge_level::<V, 0>(token, level, values, out),
            1 => merge_level::<V, 1>(token, level, values, out),
            _ => merge_level::<V, 2>(token, level, values, out),
        }
        if level.len & 1 == 1 {
            values[half] = last;
        } else {
            let bytes = &mut out[(half - 1) * level.pair_bytes..][..level.last_pair_bytes];
            bytes.copy_from_slice(&pair.to_le_bytes()[..level.last_pair_bytes]);
            values[half - 1] = (pair >> (8 * level.last_pair_bytes)) as u16;
        }
    }
    out[plan.bytes - plan.top_bytes..].copy_from_slice(&values[0].to_le_bytes()[..plan.top_bytes]);
    // A ciphertext that is made again to be compared with a forged one must not become known.
    wipe(values.as_mut_slice());
}

/// Merges all pairs of a level as if they had its common radix; `BYTES` low bytes leave each.
#[inline(always)]
fn merge_level<V: U16x16, const BYTES: usize>(token: V::Token, level: &Level, values: &mut Values, out: &mut [u8]) {
    // (1, radix) for every pair; the radix is below 2^14, so are the values.
    let [factors, _] = V::splat(token, 1).interleave(V::splat(token, level.radix.value as u16));
    let byte = V::splat(token, 0xff);
    let mut rest = out;
    for k in 0..(level.len >> 1).div_ceil(PAIRS) {
        let sixteens = values.as_chunks_mut::<PAIRS>().0;
        let low = V::load(token, &sixteens[2 * k]).madd(factors);
        let high = V::load(token, &sixteens[2 * k + 1]).madd(factors);
        V::narrow(V::shr_wide(low, 8 * BYTES as u32), V::shr_wide(high, 8 * BYTES as u32)).store(&mut sixteens[k]);
        let bytes = V::narrow(low, high);
        match BYTES {
            0 => {}
            1 => {
                let mut at_end = [0; PAIRS];
                match rest.first_chunk_mut() {
                    Some(chunk) => bytes.and(byte).store_bytes(chunk),
                    None => {
                        bytes.and(byte).store_bytes(&mut at_end);
                        rest.copy_from_slice(&at_end[..rest.len()]);
                    }
                }
            }
            _ => {
                let mut at_end = [0; 2 * PAIRS];
                match rest.first_chunk_mut() {
                    Some(chunk) => bytes.store_le(chunk),
                    None => {
                        bytes.store_le(&mut at_end);
                        rest.copy_from_slice(&at_end[..rest.len()]);
                    }
                }
            }
        }
        rest = rest.get_mut(PAIRS * BYTES..).unwrap_or_default();
    }
}

/// Decodes a string of the plan's length, whatever it holds, to numbers below the plan's radix.
#[inline(always)]
fn decode<P: Params, V: U16x16>(token: V::Token, plan: &Plan, values: &mut Values, s: &[u8]) {
    const { Plans::<P>::FITS };
    debug_assert_eq!(s.len(), plan.bytes);
    let little_endian = |bytes: &[u8], top: u32| bytes.iter().rev().fold(top, |x, &byte| x << 8 | u32::from(byte));
    let top = little_endian(&s[plan.bytes - plan.top_bytes..], 0);
    values[0] = plan.levels[plan.depth - 1].last.div_rem(top).1 as u16;
    for level in plan.levels[..plan.depth - 1].iter().rev() {
        let half = level.len >> 1;
        let (last_pair, last) = (values[half - 1], values[half]);
        let s = &s[level.offset..];
        match level.pair_bytes {
            0 => split_level::<V, 0>(token, level, values, s),
            1 => split_level::<V, 1>(token, level, values, s),
            _ => split_level::<V, 2>(token, level, values, s),
        }
        if level.len & 1 == 1 {
            values[level.len - 1] = last;
        } else {
            let low = &s[(half - 1) * level.pair_bytes..][..level.last_pair_bytes];
            let (quotient, rest) = level.radix.div_rem(little_endian(low, last_pair.into()));
            values[level.len - 2] = rest as u16;
            values[level.len - 1] = level.last.div_rem(quotient).1 as u16;
        }
    }
}

/// Splits all pairs of a level as if they had its common radix; each takes `BYTES` low bytes.
#[inline(always)]
fn split_level<V: U16x16, const BYTES: usize>(token: V::Token, level: &Level, values: &mut Values, s: &[u8]) {
    let radix = V::splat(token, level.radix.value as u16);
    let below_radix = V::splat(token, (level.radix.value - 1) as u16);
    let (shift, factor) = (level.quotient.shift, V::splat(token, level.quotient.factor));
    // From the last sixteen down, so that what is merged is read before it is written over.
    for k in (0..(level.len >> 1).div_ceil(PAIRS)).rev() {
        let sixteens = values.as_chunks_mut::<PAIRS>().0;
        let merged = V::load(token, &sixteens[k]);
        let bytes = &s[PAIRS * BYTES * k..];
        // The pair is merged * 256^BYTES + low: its low 16 bits, and its bits from `shift` on, which are at most 16.
        let (pair, high) = match BYTES {
            0 => (merged, merged),
            1 => {
                let low = match bytes.first_chunk() {
                    Some(chunk) => V::load_bytes(token, chunk),
                    None => V::load_bytes(token, &padded(bytes)),
                };
                (merged.shl(8).add(low), merged.shl(8 - shift).add(low.shr(shift)))
            }
            _ => {
                let low = match bytes.first_chunk() {
                    Some(chunk) => V::load_le(token, chunk),
                    None => V::load_le(token, &padded(bytes)),
                };
                (low, merged.shl(16 - shift).add(low.shr(shift)))
            }
        };
        let quotient = high.mulhi(factor);
        let rest = pair.sub(quotient.mullo(radix));
        // The quotient is right or one too small; all ones, that is -1, where it is too small.
        let too_small = rest.greater(below_radix);
        let rest = rest.sub(radix.and(too_small));
        let quotient = quotient.sub(too_small);
        let quotient = quotient.sub(radix.and(quotient.greater(below_radix)));
        let [low, high] = rest.interleave(quotient);
        low.store(&mut sixteens[2 * k]);
        high.store(&mut sixteens[2 * k + 1]);
    }
}

/// Less than `N` bytes, and zeros after them.
#[inline(always)]
fn padded<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    let n = bytes.len().min(N);
    out[..n].copy_from_slice(&bytes[..n]);
    out
}

/// Coefficients that share sixteen bytes.
const SIXTEEN_BYTES: usize = 64;

#[inline(always)]
fn encode_small<P: Params, V: U16x16>(token: V::Token, out: &mut [u8], a: &[i16]) {
    debug_assert!(out.len() == P::P.div_ceil(4) && P::P & 3 == 1);
    let one = V::splat(token, 1);
    let [by_four, _] = one.interleave(V::splat(token, 4));
    let [by_sixteen, _] = one.interleave(V::splat(token, 16));
    let rows = a.as_chunks().0;
    let mut rest = &mut *out;
    for four in rows.chunks(SIXTEEN_BYTES >> 4) {
        let mut pairs = [one; 4];
        for (i, pair) in pairs.iter_mut().enumerate() {
            *pair = V::load_signed(token, four.get(i).unwrap_or(&[0; 16])).add(one);
        }
        let low = V::narrow(pairs[0].madd(by_four), pairs[1].madd(by_four));
        let high = V::narrow(pairs[2].madd(by_four), pairs[3].madd(by_four));
        let bytes = V::narrow(low.madd(by_sixteen), high.madd(by_sixteen));
        let mut at_end = [0; 16];
        match rest.first_chunk_mut() {
            Some(chunk) => bytes.store_bytes(chunk),
            None => {
                bytes.store_bytes(&mut at_end);
                rest.copy_from_slice(&at_end[..rest.len()]);
                wipe(&mut at_end);
            }
        }
        rest = rest.get_mut(16..).unwrap_or_default();
    }
    // The padding does not belong to the element.
    out[P::P >> 2] &= 3;
}

#[inline(always)]
fn decode_small<P: Params, V: U16x16>(token: V::Token, a: &mut [i16], s: &[u8], two: i16) {
    debug_assert!(s.len() == P::P.div_ceil(4) && (two == 2 || two == -1));
    let (one, two_bits) = (V::splat(token, 1), V::splat(token, 3));
    // What is taken from a 2.
    let excess = V::splat(token, (2 - two).cast_unsigned());
    for (k, four) in a.as_chunks_mut().0.chunks_mut(SIXTEEN_BYTES >> 4).enumerate() {
        let s = &s[16 * k..];
        let mut at_end = [0; 16];
        let bytes = V::load_bytes(
            token,
            s.first_chunk().unwrap_or_else(|| {
                at_end[..s.len()].copy_from_slice(s);
                &at_end
            }),
        );
        // Coefficients i of all bytes, then pairs of those in the order of the element, and fours.
        let mut c = [bytes.and(two_bits), bytes.shr(2).and(two_bits), bytes.shr(4).and(two_bits), bytes.shr(6)];
        for x in &mut c {
            let less_one = x.sub(one);
            *x = less_one.sub(excess.and(less_one.greater(one)));
        }
        let ([even_low, even_high], [odd_low, odd_high]) = (c[0].interleave(c[2]), c[1].interleave(c[3]));
        let ([q0, q1], [q2, q3]) = (even_low.interleave(odd_low), even_high.interleave(odd_high));
        for (row, quarter) in four.iter_mut().zip([q0, q1, q2, q3]) {
            quarter.store_signed(row);
        }
        wipe(&mut at_end);
    }
    a[P::P..].fill(0);
}
