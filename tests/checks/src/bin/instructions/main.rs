//! Instruction counts of every operation and kernel, exact on noisy machines. Run by `scripts/check-instructions`.
//!
//! `instructions count BACKEND SET`, below callgrind, runs each operation once on a fixed tape of random bytes and lets
//! callgrind write one profile for each. `instructions report BACKEND SET PROFILE…` turns the profiles into lines
//! "set backend operation instructions" and "set backend kernel instructions-for-a-call".
//! `instructions compare RECORD COUNTED` fails when a line has grown by more than 5 %, is missing or is new.

#[allow(unsafe_code, reason = "requests to valgrind")]
#[path = "../../../../../sntrup-core/src/valgrind.rs"]
mod valgrind;

mod profile;

use sntrup_core::{
    Backend, Ciphertext, Error, Params, PreparedPublicKey, PreparedSecretKey, PublicKey, RandomError, RandomSource,
    Sntrup653, Sntrup761, Sntrup857, decapsulate, encapsulate, generate_batch, generate_key,
};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::process::ExitCode;

/// Growth that is let pass, in percent.
const TOLERANCE: u64 = 5;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["backends"] => {
            Backend::available().iter().for_each(|backend| println!("{backend}"));
            Ok(())
        }
        ["count", backend, "sntrup653"] => count::<Sntrup653>(backend),
        ["count", backend, "sntrup761"] => count::<Sntrup761>(backend),
        ["count", backend, "sntrup857"] => count::<Sntrup857>(backend),
        ["report", backend, set, ref profiles @ ..] => report(backend, set, profiles),
        ["compare", record, counted] => compare(record, counted),
        _ => Err("usage: instructions backends | count BACKEND SET | report BACKEND SET PROFILE... | compare RECORD \
                  COUNTED"
            .to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("instructions: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Random bytes made beforehand, so that making them is not counted.
struct Tape {
    bytes: Vec<u8>,
    at: usize,
}

impl Tape {
    fn new() -> Self {
        let mut state = 1u64;
        let step = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        Tape { bytes: (0..1 << 20).map(step).collect(), at: 0 }
    }
}

impl RandomSource for Tape {
    fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
        let end = self.at + out.len();
        out.copy_from_slice(self.bytes.get(self.at..end).ok_or(RandomError)?);
        self.at = end;
        Ok(())
    }
}

/// Runs every operation below callgrind.
fn count<P: Params>(backend: &str) -> Result<(), String> {
    if !valgrind::running() {
        return Err("run this below valgrind --tool=callgrind, by scripts/check-instructions".to_owned());
    }
    let run = || -> Result<(), Error> {
        Backend::select(backend.parse()?)?;
        let mut tape = Tape::new();
        // Once unmeasured, so that what is set up at the first use is not counted.
        let pair = generate_key::<P>(&mut tape)?;
        let public = pair.public().as_bytes().to_vec();
        let (ciphertext, _) = encapsulate(pair.public(), &mut tape)?;
        let ciphertext = ciphertext.as_bytes().to_vec();
        decapsulate(&Ciphertext::<P>::from_bytes(&ciphertext)?, pair.secret());

        measure("keygen", || generate_key::<P>(&mut tape).map(drop))?;
        measure("keygen-batch-32", || generate_batch::<P>(BATCH, &mut tape).map(drop))?;
        measure("encapsulate", || encapsulate(&PublicKey::<P>::from_bytes(&public)?, &mut tape).map(drop))?;
        measure("decapsulate", || {
            black_box(decapsulate(&Ciphertext::<P>::from_bytes(&ciphertext)?, pair.secret()));
            Ok(())
        })?;
        let (mut public, mut secret) = (None, None);
        measure("prepare-public", || {
            public = Some(PreparedPublicKey::new(pair.public()));
            Ok(())
        })?;
        measure("prepare-secret", || {
            secret = Some(PreparedSecretKey::new(pair.secret()));
            Ok(())
        })?;
        let (public, secret) = (public.expect("made above"), secret.expect("made above"));
        measure("encapsulate-prepared", || public.encapsulate(&mut tape).map(drop))?;
        measure("decapsulate-prepared", || {
            black_box(secret.decapsulate(&Ciphertext::<P>::from_bytes(&ciphertext)?));
            Ok(())
        })
    };
    run().map_err(|error| error.to_string())
}

const BATCH: NonZeroUsize = NonZeroUsize::new(32).unwrap();

/// Runs one operation and lets callgrind write what it counted, under the operation's name.
fn measure(name: &str, operation: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
    let name = CString::new(name).expect("the name has no zero byte");
    valgrind::zero_counts();
    let result = operation();
    valgrind::dump_counts(&name);
    result
}

/// Prints what the profiles of one run say.
fn report(backend: &str, set: &str, profiles: &[&str]) -> Result<(), String> {
    let mut kernels = BTreeMap::new();
    for path in profiles {
        let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))?;
        let profile = profile::Profile::parse(&text).map_err(|error| format!("{path}: {error}"))?;
        let Some(operation) = profile.name else {
            continue;
        }; // the one that callgrind writes at the end
        println!("{set} {backend} {operation} {}", profile.total);
        for (kernel, calls) in profile.calls {
            let all: &mut profile::Calls = kernels.entry(kernel).or_default();
            all.count += calls.count;
            all.instructions += calls.instructions;
        }
    }
    if kernels.is_empty() {
        return Err("no profile names a kernel of sntrup_core: was the program built without symbols?".to_owned());
    }
    for (kernel, calls) in kernels {
        println!("{set} {backend} {kernel} {}", calls.instructions.div_ceil(calls.count));
    }
    Ok(())
}

/// Holds the counts against the record.
fn compare(record: &str, counted: &str) -> Result<(), String> {
    let [record, counted] = [record, counted].map(|path| {
        let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))?;
        lines(&text).map_err(|error| format!("{path}: {error}"))
    });
    let (record, counted) = (record?, counted?);
    let complaints = complaints(&record, &counted);
    for complaint in &complaints {
        println!("{complaint}");
    }
    println!("{} lines compared with the record", record.len());
    match complaints.len() {
        0 => Ok(()),
        n => {
            Err(format!("{n} lines differ from the record; if that is meant, run scripts/check-instructions --update"))
        }
    }
}

/// "name of several words" and its count, from each line that is no comment.
fn lines(text: &str) -> Result<BTreeMap<String, u64>, String> {
    let mut counts = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let parsed = line.rsplit_once(' ').and_then(|(name, count)| Some((name, count.parse().ok()?)));
        let (name, count) = parsed.ok_or_else(|| format!("this line has no count at its end: {line}"))?;
        counts.insert(name.to_owned(), count);
    }
    if counts.is_empty() { Err("no counts in the file".to_owned()) } else { Ok(counts) }
}

fn complaints(record: &BTreeMap<String, u64>, counted: &BTreeMap<String, u64>) -> Vec<String> {
    let mut complaints = Vec::new();
    for (name, &before) in record {
        match counted.get(name) {
            None => complaints.push(format!("{name}: in the record but not counted (renamed, or inlined away?)")),
            Some(&now) if now * 100 > before * (100 + TOLERANCE) => {
                complaints.push(format!("{name}: {now} instructions, {before} in the record"));
            }
            Some(_) => {}
        }
    }
    for name in counted.keys().filter(|name| !record.contains_key(*name)) {
        complaints.push(format!("{name}: counted but not in the record"));
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_beyond_the_tolerance_absence_and_novelty_are_told() {
        let record = lines("# comment\na portable x 1000\na portable y 1000\na portable gone 5\n").unwrap();
        let counted = lines("a portable x 1050\na portable y 1051\na portable new 1\n").unwrap();
        let complaints = complaints(&record, &counted);
        assert_eq!(complaints.len(), 3, "{complaints:?}");
        assert!(complaints[0].starts_with("a portable gone:"));
        assert!(complaints[1].starts_with("a portable y: 1051"));
        assert!(complaints[2].starts_with("a portable new:"));
        assert!(lines("a portable x\n").is_err());
        assert!(lines("# nothing\n").is_err());
    }
}
