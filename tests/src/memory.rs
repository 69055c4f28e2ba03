//! Finds random bytes again in this process's memory, to show which secrets are left there.
//!
//! A counter run through an invertible mixing function serves as the random generator (the finaliser of SplitMix64,
//! Steele, Lea, Flood, OOPSLA 2014). Any eight bytes of memory can be run backwards: if a counter comes out, and the next
//! eight bytes give the next counter, these are bytes of the generator. No copy of its output has to be kept for that.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Consecutive words that make a secret array: 128 bytes. The random fields of TLS have 48 bytes at most, so that they are
/// not mistaken for one, and the smallest secret of the KEM that comes straight from the generator has 191.
const RUN: u64 = 16;

/// The generator's word number `counter`.
#[must_use]
pub fn word(counter: u64) -> u64 {
    let mut x = counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The counter that gives this word: [`word`] backwards. The factors are the inverses of those above modulo 2^64.
fn counter(word: u64) -> u64 {
    let mut x = word ^ (word >> 31) ^ (word >> 62);
    x = x.wrapping_mul(0x3196_42b2_d24d_8ec3);
    x ^= (x >> 27) ^ (x >> 54);
    x = x.wrapping_mul(0x96de_1b17_3f11_9089);
    x ^= (x >> 30) ^ (x >> 60);
    x.wrapping_sub(0x9e37_79b9_7f4a_7c15)
}

/// The runs of at least 16 consecutive words of the generator, below `drawn` words, in a piece of memory: the bytes of each.
fn runs(memory: &[u8], drawn: u64) -> Vec<u64> {
    let at = |offset: usize| {
        let bytes = memory.get(offset..offset + 8)?;
        Some(counter(u64::from_le_bytes(bytes.try_into().ok()?)))
    };
    let mut found = Vec::new();
    let mut offset = 0;
    while let Some(first) = at(offset) {
        let mut length = 0;
        if first < drawn {
            while at(offset + 8 * length as usize) == Some(first + length) {
                length += 1;
            }
        }
        if length >= RUN {
            found.push(8 * length);
            offset += 8 * length as usize;
        } else {
            offset += 1;
        }
    }
    found
}

/// Searches all writable memory of this process for runs of at least 128 bytes of the generator's first `drawn` words.
/// Gives the bytes of each run.
///
/// # Errors
/// /proc/self cannot be read.
pub fn search(drawn: u64) -> io::Result<Vec<u64>> {
    let memory = File::open("/proc/self/mem")?;
    let largest = writable()?.iter().map(|range| range.end - range.start).max().unwrap_or(0);
    let mut buffer = vec![0; usize::try_from(largest).map_err(io::Error::other)?];
    // The buffer holds copies of what was searched, so that it must not be searched itself.
    let own = buffer.as_ptr() as u64..buffer.as_ptr() as u64 + largest;
    let mut found = Vec::new();
    for range in writable()? {
        for part in [range.start..range.end.min(own.start), range.start.max(own.end)..range.end] {
            let length = part.end.saturating_sub(part.start).min(largest);
            let copy = &mut buffer[..usize::try_from(length).map_err(io::Error::other)?];
            // Another thread may have given the memory back meanwhile.
            if memory.read_exact_at(copy, part.start).is_ok() {
                found.extend(runs(copy, drawn));
            }
        }
    }
    buffer.fill(0);
    Ok(found)
}

/// The writable mappings of this process.
fn writable() -> io::Result<Vec<Range<u64>>> {
    let mut ranges = Vec::new();
    for line in BufReader::new(File::open("/proc/self/maps")?).lines() {
        let line = line?;
        let mut fields = line.split_whitespace();
        let range = fields.next().and_then(|range| range.split_once('-'));
        if let (Some((start, end)), Some(true)) = (range, fields.next().map(|flags| flags.starts_with("rw"))) {
            let parse = |text| u64::from_str_radix(text, 16).map_err(io::Error::other);
            ranges.push(parse(start)?..parse(end)?);
        }
    }
    Ok(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_can_be_run_backwards() {
        for value in [0, 1, 2, 0xffff, u64::MAX, 0x0123_4567_89ab_cdef] {
            assert_eq!(counter(word(value)), value);
        }
    }

    #[test]
    fn a_run_is_found_at_any_offset_and_a_short_one_is_not() {
        let bytes: Vec<u8> = (100..130).flat_map(|counter| word(counter).to_le_bytes()).collect();
        let memory = [&[1, 2, 3][..], &bytes[5..196], &[0; 40], &bytes[..64]].concat();
        assert_eq!(runs(&memory, 1000), [8 * 23]);
        assert!(runs(&memory, 100).is_empty());
    }

    #[test]
    fn a_secret_is_seen_in_the_heap_until_it_is_wiped() {
        let count = |drawn| search(drawn).unwrap().len();
        let mut secret: Vec<u8> = (0..20).flat_map(|counter| word(counter).to_le_bytes()).collect();
        assert_eq!(count(20), 1);
        secret.fill(0);
        assert_eq!(count(20), 0);
        drop(secret);
    }
}
