//! Constant-time check: run below valgrind's memcheck by `scripts/check-constant-time`.
//!
//! Every byte of the random source is marked as secret, and the secrets go through every public operation. Memcheck
//! reports each branch and each address that depends on one; this program names what it does and checks that the
//! secrets really are followed to the end, and that the results are right. `--canary NAME` plants a leak instead.

#[allow(unsafe_code, reason = "requests to valgrind")]
#[path = "../../../../../sntrup-core/src/valgrind.rs"]
mod valgrind;

use sntrup_core::{
    Backend, Ciphertext, Error, Params, PreparedPublicKey, PreparedSecretKey, PublicKey, RandomError, RandomSource,
    SHARED_SECRET_BYTES, SecretKey, SharedSecret, Sntrup653, Sntrup761, Sntrup857, Stock, decapsulate, encapsulate,
    generate_batch, generate_key,
};
use std::hint::black_box;
use std::num::{NonZeroU32, NonZeroUsize};
use std::process::ExitCode;

/// Uniform enough for the samplers, the same in every run; all its output is marked as secret.
struct SecretSource {
    state: u64,
}

impl RandomSource for SecretSource {
    fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
        for byte in out.iter_mut() {
            // SplitMix64, one step for each byte.
            self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            *byte = (mixed >> 56) as u8;
        }
        valgrind::mark_secret(out);
        Ok(())
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if !valgrind::running() {
        eprintln!("constant_time: run this below valgrind, by scripts/check-constant-time");
        return ExitCode::FAILURE;
    }
    let done = match arguments[..] {
        ["--backends"] => {
            Backend::available().iter().for_each(|backend| println!("{backend}"));
            Ok(())
        }
        ["--canary", name] => canary(name),
        [backend, "sntrup653"] => check::<Sntrup653>(backend),
        [backend, "sntrup761"] => check::<Sntrup761>(backend),
        [backend, "sntrup857"] => check::<Sntrup857>(backend),
        _ => Err("usage: constant_time --backends | --canary branch|index|division | BACKEND SET".to_owned()),
    };
    #[cfg(ct_check)]
    for (name, times) in sntrup_core::disclosures() {
        println!("  disclosed {times} times: {name}");
    }
    match done {
        Ok(()) if valgrind::errors() == 0 => ExitCode::SUCCESS,
        Ok(()) => {
            eprintln!("constant_time: memcheck reported {} places that depend on a secret", valgrind::errors());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("constant_time: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Sends secrets through every operation of one parameter set on one backend.
fn check<P: Params>(backend: &str) -> Result<(), String> {
    let backend: Backend = backend.parse().map_err(|error: Error| error.to_string())?;
    Backend::select(backend).map_err(|error| error.to_string())?;
    let mut rng = SecretSource { state: P::P as u64 };

    step::<P>(backend, "single key generation", || {
        let pair = generate_key::<P>(&mut rng)?;
        exercise(pair.public().as_bytes(), pair.secret(), &mut rng)
    })?;
    for count in [1, 2, 5, 32] {
        step::<P>(backend, &format!("batch of {count}"), || {
            let count = NonZeroUsize::new(count).ok_or("a batch has at least one key")?;
            let pairs = generate_batch::<P>(count, &mut rng)?;
            for pair in pairs.iter().take(3) {
                exercise(pair.public().as_bytes(), pair.secret(), &mut rng)?;
            }
            Ok(())
        })?;
    }
    step::<P>(backend, "stock", || {
        let stock = Stock::<P>::new();
        stock.set_batch_size(3)?;
        for _ in 0..5 {
            let pair = stock.take(&mut rng)?;
            exercise(pair.public().as_bytes(), pair.secret(), &mut rng)?;
        }
        stock.clear();
        Ok(())
    })
}

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Runs a step and names it if it fails or if memcheck has something to report.
fn step<P: Params>(backend: Backend, name: &str, run: impl FnOnce() -> Outcome) -> Result<(), String> {
    let before = valgrind::errors();
    run().map_err(|error| format!("{} {backend}, {name}: {error}", P::NAME))?;
    let reports = valgrind::errors() - before;
    println!("{} {backend}, {name}: {reports} reports", P::NAME);
    Ok(())
}

/// Encapsulates to a public key and decapsulates good and forged ciphertexts, from bytes and with prepared keys.
fn exercise<P: Params>(public: &[u8], secret: &SecretKey<P>, rng: &mut SecretSource) -> Outcome {
    expect(valgrind::secret_bits(secret.as_bytes()) > 0, "the secret key is followed as a secret")?;
    // Disclosed: the public key and the ciphertext are what the operations are there to publish.
    let public = PublicKey::<P>::from_bytes(&published(public))?;
    let secret = SecretKey::<P>::from_bytes(secret.as_bytes())?;
    let (prepared_public, prepared_secret) = (PreparedPublicKey::new(&public), PreparedSecretKey::new(&secret));

    for (ciphertext, shared) in [encapsulate(&public, rng)?, prepared_public.encapsulate(rng)?] {
        let good = published(ciphertext.as_bytes());
        let forgeries = forgeries(&good);
        for (bytes, genuine) in std::iter::once((&good, true)).chain(forgeries.iter().map(|forged| (forged, false))) {
            let ciphertext = Ciphertext::<P>::from_bytes(bytes)?;
            same(&shared, &decapsulate(&ciphertext, &secret), genuine)?;
            same(&shared, &prepared_secret.decapsulate(&ciphertext), genuine)?;
        }
    }
    Ok(())
}

/// Ciphertexts that are not genuine: body or confirmation changed by a bit, the ends of the range, noise.
fn forgeries(good: &[u8]) -> Vec<Vec<u8>> {
    let flipped = |position: usize| {
        let mut bytes = good.to_vec();
        bytes[position] ^= 1;
        bytes
    };
    let noise = (0..good.len()).map(|i| (i.wrapping_mul(167) >> 3) as u8).collect();
    vec![
        flipped(0),
        flipped(good.len() - 33),
        flipped(good.len() - 1),
        vec![0; good.len()],
        vec![255; good.len()],
        noise,
    ]
}

/// A copy of public output that is no longer marked as secret.
fn published(bytes: &[u8]) -> Vec<u8> {
    let mut copy = bytes.to_vec();
    valgrind::mark_public(&mut copy);
    copy
}

/// Checks that both session keys still are secret to memcheck, and whether they are equal.
fn same(a: &SharedSecret, b: &SharedSecret, equal: bool) -> Outcome {
    for key in [a, b] {
        let bits = valgrind::secret_bits(key.as_bytes());
        expect(bits == 8 * SHARED_SECRET_BYTES as u32, "every bit of a session key is followed as a secret")?;
    }
    let [a, b] = [a, b].map(|key| published(key.as_bytes()));
    expect((a == b) == equal, if equal { "both sides have the same key" } else { "a forgery gives another key" })
}

fn expect(condition: bool, what: &str) -> Outcome {
    if condition { Ok(()) } else { Err(format!("this does not hold: {what}").into()) }
}

/// Plants a leak that the checks must find: the branch and the index by memcheck, the division by the disassembly.
fn canary(name: &str) -> Result<(), String> {
    let mut secret = [0u8; 2];
    SecretSource { state: 1 }.fill(&mut secret).map_err(|error| error.to_string())?;
    let leak = match name {
        "branch" => canary_branch(secret[0]),
        "index" => canary_index(secret[0]),
        "division" => canary_division(secret[0].into(), NonZeroU32::MIN.saturating_add(secret[1].into())),
        _ => return Err(format!("there is no canary {name}")),
    };
    black_box(leak);
    Ok(())
}

/// A branch on a secret, kept a branch by what only one side does.
#[inline(never)]
fn canary_branch(secret: u8) -> u32 {
    if secret & 1 == 1 { black_box(3) } else { 4 }
}

/// A table look-up at a secret place.
#[inline(never)]
fn canary_index(secret: u8) -> u32 {
    let table: [u32; 256] = black_box([7; 256]);
    table[usize::from(secret)]
}

/// A division of a secret by a secret. Memcheck has no eye for the time that it takes.
#[inline(never)]
fn canary_division(dividend: u32, divisor: NonZeroU32) -> u32 {
    black_box(dividend) / black_box(divisor)
}
