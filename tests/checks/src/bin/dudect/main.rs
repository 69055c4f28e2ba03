//! Timing test after dudect (Reparaz, Balasch, Verbauwhede, "Dude, is my code constant time?", DATE 2017).
//!
//! Two classes of inputs are timed in random order, and Welch's t-test says whether their times differ. It is applied to
//! all measurements, to those below many percentiles (which takes away the noise of the machine), and to the squared
//! distances from the mean (which sees a different spread). What is made public on purpose may change the time, so
//! that key generation is compared only among random bytes that lead to the same number of attempts.
//! Two controls run beside the tests: equal classes, which must not differ, and a planted leak, which must be found.
//! Run it by `scripts/dudect`; docs/constant-time.md has figures and their meaning.

mod welch;

use sntrup_core::{
    Backend, Ciphertext, Error, Params, PreparedSecretKey, RandomError, RandomSource, Sntrup653, Sntrup761, Sntrup857,
    decapsulate, encapsulate, generate_key,
};
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use welch::Test;

/// Inputs of each class; both classes are kept in the same way, so that the caches see no difference.
const POOL: usize = 128;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match &arguments[..] {
        [seconds] => seconds.parse().map_err(|_| usage()).and_then(run),
        _ => Err(usage()),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("dudect: {error}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> String {
    "usage: dudect SECONDS (for each test)".to_owned()
}

/// Runs all tests; true if no test saw a difference and both controls came out as they must.
fn run(seconds: u64) -> Result<bool, String> {
    let time = Duration::from_secs(seconds);
    println!(
        "| backend | set | test | timings | median ns | difference in the faster half, ns | largest \\|t\\| | verdict |"
    );
    println!("|---|---|---|--:|--:|--:|--:|---|");
    let mut passed = true;
    for &backend in Backend::available() {
        Backend::select(backend).map_err(|error| error.to_string())?;
        passed &= tests::<Sntrup653>(backend, time).map_err(|error| error.to_string())?;
        passed &= tests::<Sntrup761>(backend, time).map_err(|error| error.to_string())?;
        passed &= tests::<Sntrup857>(backend, time).map_err(|error| error.to_string())?;
    }
    Ok(passed)
}

/// The tests and controls of one parameter set on one backend.
fn tests<P: Params>(backend: Backend, time: Duration) -> Result<bool, Error> {
    let mut noise = Noise::from_system();
    let pair = generate_key::<P>(&mut noise)?;
    let mut genuine = || Ok(encapsulate(pair.public(), &mut noise)?.0.as_bytes().to_vec());
    let good = pool(&mut genuine)?;
    let others = pool(&mut genuine)?;
    let forged: Vec<Vec<u8>> = good.iter().enumerate().map(|(i, bytes)| forge(bytes, i)).collect();
    let decap = |bytes: &[u8]| {
        let ciphertext = Ciphertext::<P>::from_bytes(bytes).expect("the ciphertext has the right length");
        black_box(decapsulate(&ciphertext, pair.secret()));
    };

    let prepared = PreparedSecretKey::new(pair.secret());
    let decap_prepared = |bytes: &[u8]| {
        let ciphertext = Ciphertext::<P>::from_bytes(bytes).expect("the ciphertext has the right length");
        black_box(prepared.decapsulate(&ciphertext));
    };

    let mut passed = true;
    let mut report = |name: &str, test: Test, leaks: bool| {
        let (right, verdict) = match (test.differs(), leaks) {
            (Some(false), false) => (true, "no difference seen"),
            (Some(true), true) => (true, "found, as it must be"),
            (Some(true), false) => (false, "DIFFERENCE"),
            (Some(false), true) => (false, "NOT FOUND"),
            (None, _) => (false, "TOO FEW TIMINGS"),
        };
        passed &= right;
        println!("| {backend} | {} | {name} | {test} | {verdict} |", P::NAME);
    };

    report("decapsulation, genuine / forged", compare(time, [&good, &forged], decap), false);
    let pools = [&good[..], &forged[..]];
    report("decapsulation, prepared, genuine / forged", compare(time, pools, decap_prepared), false);
    // The fixed class has the same g and f each time. What comes after them seeds the blinding of the inversion; it is
    // fresh in every run of both classes, since the number of attempts that the blinding takes is public.
    let (key_bytes, encap_bytes) = (8 * P::P, 4 * P::P);
    let key: &dyn Fn(&mut Tape) = &|tape| drop(black_box(generate_key::<P>(tape)));
    let pools = [&tapes(key_bytes, key)[..], &tapes(0, key)[..]];
    report("key generation, fixed / random", compare_tapes(time, pools, key_bytes, key), false);
    let encap: &dyn Fn(&mut Tape) = &|tape| drop(black_box(encapsulate(pair.public(), tape)));
    let pools = [&tapes(encap_bytes, encap)[..], &tapes(0, encap)[..]];
    report("encapsulation, fixed / random", compare_tapes(time, pools, encap_bytes, encap), false);

    report("control: decapsulation, genuine / genuine", compare(time, [&good, &others], decap), false);
    // What an implementation does that compares the ciphertexts with `==`: it stops at the first difference.
    let one = vec![good[0].clone(); POOL];
    let planted = compare(time, [&one, &forged], |bytes| {
        decap(bytes);
        black_box(early_exit(&good[0], bytes));
    });
    report("control: planted early exit, genuine / forged", planted, true);
    Ok(passed)
}

/// Compares byte by byte and stops at the first difference: the planted leak.
#[inline(never)]
fn early_exit(a: &[u8], b: &[u8]) -> bool {
    a.iter().zip(b).all(|(a, b)| black_box(a) == b)
}

/// A forgery of a genuine ciphertext: noise from some byte on, or one bit changed.
fn forge(genuine: &[u8], index: usize) -> Vec<u8> {
    let mut bytes = genuine.to_vec();
    if index & 1 == 0 {
        bytes[index * 7] ^= 1 << (index >> 1 & 7);
    } else {
        let _ = Noise::from_system().fill(&mut bytes);
    }
    bytes
}

fn pool(make: &mut dyn FnMut() -> Result<Vec<u8>, Error>) -> Result<Vec<Vec<u8>>, Error> {
    (0..POOL).map(|_| make()).collect()
}

/// Tapes of random bytes for an operation, the first `fixed` of which are the same on all of them. The operation consumes
/// every tape to the same length, the usual one: the number of attempts is public.
fn tapes(fixed: usize, operation: &dyn Fn(&mut Tape)) -> Vec<Vec<u8>> {
    let mut noise = Noise::from_system();
    let mut make = |start: &[u8]| {
        let mut bytes = vec![0; TAPE];
        noise.fill(&mut bytes).expect("this source does not fail");
        bytes[..start.len()].copy_from_slice(start);
        let mut tape = Tape { bytes, used: 0 };
        operation(&mut tape);
        tape.bytes.truncate(tape.used);
        tape.bytes
    };
    let mut first: Vec<Vec<u8>> = (0..31).map(|_| make(&[])).collect();
    first.sort_by_key(Vec::len);
    let usual =
        first.chunk_by(|a, b| a.len() == b.len()).max_by_key(|same| same.len()).map_or(&first[0], |same| &same[0]);
    let start = &usual[..fixed];
    std::iter::repeat_with(|| make(start)).filter(|tape| tape.len() == usual.len()).take(POOL).collect()
}

/// Bytes on a tape; more than any operation here draws in a usual run.
const TAPE: usize = 1 << 17;

/// A random source that plays back bytes.
struct Tape {
    bytes: Vec<u8>,
    used: usize,
}

impl RandomSource for Tape {
    fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
        let end = self.used + out.len();
        out.copy_from_slice(self.bytes.get(self.used..end).ok_or(RandomError)?);
        self.used = end;
        Ok(())
    }
}

/// Bytes for the experiment, not for keys of value: SplitMix64 from a seed of the system.
struct Noise(u64);

impl Noise {
    fn from_system() -> Self {
        use std::hash::{BuildHasher, RandomState};
        Noise(RandomState::new().hash_one(0))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl RandomSource for Noise {
    fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
        for chunk in out.chunks_mut(8) {
            chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

/// Times an operation on the inputs of two classes, in random order, each copied to the same place first.
fn compare(time: Duration, classes: [&[Vec<u8>]; 2], operation: impl FnMut(&[u8])) -> Test {
    compare_with_noise(time, classes, usize::MAX, operation)
}

/// As [`compare`]; the bytes of every input from `noisy` on are replaced by fresh random ones.
fn compare_with_noise(
    time: Duration,
    classes: [&[Vec<u8>]; 2],
    noisy: usize,
    mut operation: impl FnMut(&[u8]),
) -> Test {
    let mut place = vec![0; classes[0][0].len()];
    let mut noise = Noise::from_system();
    let mut test = Test::new();
    let started = Instant::now();
    while started.elapsed() < time {
        for _ in 0..64 {
            let random = noise.next();
            let class = (random & 1) as usize;
            place.copy_from_slice(&classes[class][(random >> 1) as usize & (POOL - 1)]);
            if let Some(rest) = place.get_mut(noisy..) {
                noise.fill(rest).expect("this source does not fail");
            }
            let start = Instant::now();
            operation(&place);
            test.add(class, start.elapsed().as_nanos() as f64);
        }
    }
    test
}

/// As [`compare_with_noise`], for an operation that takes its input from the random source.
fn compare_tapes(time: Duration, classes: [&[Vec<u8>]; 2], noisy: usize, operation: &dyn Fn(&mut Tape)) -> Test {
    let mut tape = Tape { bytes: classes[0][0].clone(), used: 0 };
    compare_with_noise(time, classes, noisy, |bytes| {
        tape.bytes.copy_from_slice(bytes);
        tape.used = 0;
        operation(&mut tape);
    })
}
