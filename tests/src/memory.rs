//! Finds secret keys in this process's memory, to show which are left there.
//!
//! A counter run through an invertible mixing function serves as the random generator (the finaliser of SplitMix64,
//! Steele, Lea, Flood, OOPSLA 2014), so that every seed that the stock drew can be had again; and of a batch's seed the same
//! keys are made again. What is kept to look for them has gone through the mixing function as well, and is not found itself.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::{self, BufRead, BufReader};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use sntrup_core::{Params, RandomError, RandomSource, generate_batch};

/// Words of a batch's seed.
pub const SEED_WORDS: usize = 4;

/// The generator's word number `counter`.
#[must_use]
pub fn word(counter: u64) -> u64 {
    let mut x = counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The generator from one of its words on.
struct From(u64);

impl RandomSource for From {
    fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
        for chunk in out.chunks_mut(8) {
            chunk.copy_from_slice(&word(self.0).to_le_bytes()[..chunk.len()]);
            self.0 += 1;
        }
        Ok(())
    }
}

/// A hash of words that are mixed already: themselves.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only words are looked up");
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = word;
    }
}

/// How often each part of the wanted keys lies in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The polynomial f.
    pub f: usize,
    /// The reciprocal of g modulo 3.
    pub g_recip: usize,
    /// The string rho.
    pub rho: usize,
}

/// The first 16 bytes of parts of secret keys, mixed: the second word and the number of the part by the first word.
#[derive(Default)]
pub struct Wanted(HashMap<u64, (u64, usize), BuildHasherDefault<Mixed>>);

impl Wanted {
    /// Adds the secret keys of the batch of `size` whose seed begins with the generator's word number `seed`.
    pub fn add_batch<P: Params>(&mut self, seed: u64, size: NonZeroUsize) {
        let pairs = generate_batch::<P>(size, &mut From(seed)).expect("this generator does not fail");
        for pair in pairs {
            let key = pair.secret().as_bytes();
            let small = P::P.div_ceil(4);
            for (part, at) in [0, small, 2 * small + P::PUBLIC_KEY_BYTES].into_iter().enumerate() {
                if let Some([first, second]) = words(&key[at..]) {
                    self.0.insert(word(first), (word(second), part));
                }
            }
        }
    }

    /// Counts the parts that lie in a piece of memory, at any offset.
    fn count(&self, memory: &[u8], found: &mut [usize; 3]) {
        for offset in 0..memory.len() {
            let Some([first, second]) = words(&memory[offset..]) else { break };
            if let Some(&(expected, part)) = self.0.get(&word(first))
                && word(second) == expected
            {
                found[part] += 1;
            }
        }
    }

    /// Searches all writable memory of this process.
    ///
    /// # Errors
    /// /proc/self cannot be read.
    pub fn search(&self) -> io::Result<Found> {
        let memory = File::open("/proc/self/mem")?;
        let largest = writable()?.iter().map(|range| range.end - range.start).max().unwrap_or(0);
        let mut buffer = vec![0; usize::try_from(largest).map_err(io::Error::other)?];
        // The buffer holds copies of what was searched, so that it must not be searched itself.
        let own = buffer.as_ptr() as u64..buffer.as_ptr() as u64 + largest;
        let mut found = [0; 3];
        for range in writable()? {
            for part in [range.start..range.end.min(own.start), range.start.max(own.end)..range.end] {
                let length = part.end.saturating_sub(part.start).min(largest);
                let copy = &mut buffer[..usize::try_from(length).map_err(io::Error::other)?];
                // Another thread may have given the memory back meanwhile.
                if memory.read_exact_at(copy, part.start).is_ok() {
                    self.count(copy, &mut found);
                }
            }
        }
        buffer.fill(0);
        let [f, g_recip, rho] = found;
        Ok(Found { f, g_recip, rho })
    }
}

/// The first two words of a piece of memory.
fn words(bytes: &[u8]) -> Option<[u64; 2]> {
    let (pieces, _) = bytes.as_chunks::<8>();
    Some([u64::from_le_bytes(*pieces.first()?), u64::from_le_bytes(*pieces.get(1)?)])
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
    use sntrup_core::Sntrup761;

    #[test]
    fn a_secret_key_is_seen_until_it_is_dropped() {
        let five = NonZeroUsize::new(5).unwrap();
        let mut wanted = Wanted::default();
        for seed in [100, 200, 300] {
            wanted.add_batch::<Sntrup761>(seed, five);
        }
        let found = |count| Found { f: count, g_recip: count, rho: count };
        assert_eq!(wanted.search().unwrap(), found(0));
        let pairs = generate_batch::<Sntrup761>(five, &mut From(200)).unwrap();
        assert_eq!(wanted.search().unwrap(), found(5));
        let odd = [&[7], pairs[0].secret().as_bytes()].concat();
        assert_eq!(wanted.search().unwrap(), found(6));
        drop(pairs);
        // An ordinary vector is not wiped.
        assert_eq!(wanted.search().unwrap(), found(1));
        drop(std::hint::black_box(odd));
    }
}
