//! The contest: every entry runs a few calls in every round, so that all of them see the same noise.

use crate::clock::{Clock, Rates, ticks};
use std::fmt;

/// What is timed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Operation {
    /// A key pair; for a batch, its share of the batch.
    Keygen,
    /// Encapsulation to a public key given as bytes.
    Encapsulate,
    /// Encapsulation to a public key prepared beforehand.
    EncapsulatePrepared,
    /// Decapsulation with a secret key in its byte form.
    Decapsulate,
    /// Decapsulation with a secret key prepared beforehand.
    DecapsulatePrepared,
    /// A Diffie-Hellman derivation.
    Derive,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Operation::Keygen => "keygen",
            Operation::Encapsulate => "encapsulate",
            Operation::EncapsulatePrepared => "encapsulate-prepared",
            Operation::Decapsulate => "decapsulate",
            Operation::DecapsulatePrepared => "decapsulate-prepared",
            Operation::Derive => "derive",
        })
    }
}

/// One line of the table: an operation of one implementation.
pub struct Entry {
    /// What is timed.
    pub operation: Operation,
    /// `ours-avx2`, `aws-lc`, …
    pub implementation: String,
    /// `sntrup761`, `ml-kem-768`, …
    pub parameter_set: &'static str,
    /// Key pairs made by one call.
    pub batch: usize,
    /// Where the random bytes come from.
    pub random: &'static str,
    /// Set for a second line of the same operation that differs from the first as this says; kept out of the JSON.
    pub variant: Option<&'static str>,
    /// Untimed: puts the process into the state that the call needs (the backend in use).
    pub before: Box<dyn Fn()>,
    /// The timed call.
    pub call: Box<dyn FnMut()>,
}

/// An entry's figures, in ticks of the time-stamp counter per key or operation.
pub struct Figure {
    /// The entry that was timed.
    pub entry: Entry,
    /// The least of all calls.
    pub min: f64,
    /// The median of all calls.
    pub median: f64,
    /// How many calls were timed.
    pub calls: usize,
}

/// Ticks that an entry may take in one round.
const SLICE: u64 = 250_000;
/// An entry slower than this runs one timed call a round and no warm-up.
const SLOW: u64 = 2_000_000;
/// Timed calls in a round at most.
const CALLS: u64 = 12;

/// Runs all entries alternately, `rounds` times, and returns their figures in the same order.
pub fn run(entries: Vec<Entry>, rounds: usize) -> (Vec<Figure>, Rates) {
    let mut clock = Clock::start();
    let mut lanes: Vec<(Entry, u64, Vec<u64>)> = entries
        .into_iter()
        .map(|mut entry| {
            (entry.before)();
            (entry.call)();
            let start = ticks();
            (entry.call)();
            (entry, (ticks() - start).max(1), Vec::new())
        })
        .collect();
    let mut shown = std::time::Instant::now();
    for round in 0..rounds {
        clock.sample_core();
        for (entry, estimate, samples) in &mut lanes {
            (entry.before)();
            if *estimate < SLOW {
                (entry.call)(); // brings code and tables back into the caches after the others
            }
            for _ in 0..(SLICE / *estimate).clamp(1, CALLS) {
                let start = ticks();
                (entry.call)();
                samples.push(ticks() - start);
            }
        }
        if shown.elapsed().as_secs() >= 10 {
            eprintln!("bench: round {} of {rounds}", round + 1);
            shown = std::time::Instant::now();
        }
    }
    let figures = lanes
        .into_iter()
        .map(|(entry, _, mut samples)| {
            samples.sort_unstable();
            let share = |ticks: u64| ticks as f64 / entry.batch as f64;
            Figure { min: share(samples[0]), median: share(samples[samples.len() / 2]), calls: samples.len(), entry }
        })
        .collect();
    (figures, clock.finish())
}
