//! Mixed-radix encoding of coefficients (specification, section "Encoding of integer sequences"), after a `Plan`.

use crate::fq::{Fq, third};
use crate::params::{Level, Params, Plan};
use crate::wipe::{Array, Secret};

/// A canonical coefficient as a number in [0, q).
#[inline(always)]
pub(super) fn unsigned<P: Params>(x: i16) -> i16 {
    x + Fq::<P>::HALF
}

/// Inverse of [`unsigned`].
#[inline(always)]
pub(super) fn signed<P: Params>(x: i16) -> i16 {
    x - Fq::<P>::HALF
}

/// A rounded coefficient as a number in [0, (q+2)/3).
#[inline(always)]
pub(super) fn unsigned_third<P: Params>(x: i16) -> i16 {
    third(x + Fq::<P>::HALF)
}

/// Inverse of [`unsigned_third`].
#[inline(always)]
pub(super) fn signed_triple<P: Params>(x: i16) -> i16 {
    3 * x - Fq::<P>::HALF
}

/// Encodes the coefficients, mapped to numbers below the plan's radix, into exactly the plan's bytes.
pub(super) fn encode<P: Params>(plan: &Plan, out: &mut [u8], a: &P::Coeffs, map: impl Fn(i16) -> i16) {
    debug_assert_eq!(out.len(), plan.bytes);
    let mut values = Secret::<P::Coeffs>::zeroed();
    let values = values.as_mut_slice();
    for (value, &a) in values[..P::P].iter_mut().zip(a.as_slice()) {
        *value = map(a);
        debug_assert!(*value >= 0 && (*value as u32) < plan.levels[0].radix.value);
    }
    for level in &plan.levels[..plan.depth - 1] {
        let mut position = level.offset;
        for i in 0..level.len >> 1 {
            let mut merged = values[2 * i] as u32 + level.radix.value * values[2 * i + 1] as u32;
            for _ in 0..bytes_of_pair(level, i) {
                out[position] = merged as u8;
                merged >>= 8;
                position += 1;
            }
            values[i] = merged as i16;
        }
        if level.len & 1 == 1 {
            values[level.len >> 1] = values[level.len - 1];
        }
    }
    let top = (values[0] as u16).to_le_bytes();
    out[plan.bytes - plan.top_bytes..].copy_from_slice(&top[..plan.top_bytes]);
}

/// Decodes a string of the plan's length, whatever it holds, to numbers below the plan's radix, mapped to coefficients.
pub(super) fn decode<P: Params>(plan: &Plan, a: &mut P::Coeffs, s: &[u8], map: impl Fn(i16) -> i16) {
    debug_assert_eq!(s.len(), plan.bytes);
    let values = a.as_mut_slice();
    let top = s[plan.bytes - plan.top_bytes..].iter().rev().fold(0, |top, &byte| top << 8 | u32::from(byte));
    values[0] = plan.levels[plan.depth - 1].last.div_rem(top).1 as i16;
    for level in plan.levels[..plan.depth - 1].iter().rev() {
        let pairs = level.len >> 1;
        if level.len & 1 == 1 {
            values[level.len - 1] = values[pairs];
        }
        // From the last pair down, so that each merged value is read before it is overwritten.
        for i in (0..pairs).rev() {
            let position = level.offset + i * level.pair_bytes;
            let low = &s[position..position + bytes_of_pair(level, i)];
            let merged = low.iter().rev().fold(values[i] as u32, |merged, &byte| merged << 8 | u32::from(byte));
            let (rest, first) = level.radix.div_rem(merged);
            let divisor = if 2 * i + 2 == level.len { level.last } else { level.radix };
            values[2 * i] = first as i16;
            values[2 * i + 1] = divisor.div_rem(rest).1 as i16;
        }
    }
    for value in &mut values[..P::P] {
        *value = map(*value);
    }
    values[P::P..].fill(0);
}

/// Number of bytes that leave pair `i` of the level.
#[inline(always)]
fn bytes_of_pair(level: &Level, i: usize) -> usize {
    if 2 * i + 2 == level.len { level.last_pair_bytes } else { level.pair_bytes }
}
