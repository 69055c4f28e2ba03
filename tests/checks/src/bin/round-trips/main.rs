//! Random round trips in great number: keys of batches and single keys, both backends in every role, genuine and forged
//! ciphertexts, plain and prepared keys. Run by `scripts/round-trips`.

use std::fs::File;
use std::io::Read;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use sntrup_core::{
    Backend, Ciphertext, Error, KeyPair, Params, PreparedPublicKey, PreparedSecretKey, PublicKey, RandomError,
    RandomSource, SecretKey, Sntrup653, Sntrup761, Sntrup857, decapsulate, encapsulate, generate_batch, generate_key,
};

/// Keys of one inversion.
const BATCH: NonZeroUsize = NonZeroUsize::new(32).unwrap();
/// One in so many keys is made singly, one in so many ciphertexts is forged, one in so many keys is prepared.
const RARE: usize = 16;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [count] = &arguments[..] else { return usage() };
    let Ok(count) = count.parse() else { return usage() };
    let done = run::<Sntrup653>(count).and_then(|()| run::<Sntrup761>(count)).and_then(|()| run::<Sntrup857>(count));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("round-trips: {error}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: round-trips COUNT");
    ExitCode::from(2)
}

/// The system's random source, read in large pieces.
struct System {
    file: File,
    bytes: Vec<u8>,
    used: usize,
}

impl System {
    fn open() -> Result<Self, String> {
        let file = File::open("/dev/urandom").map_err(|error| format!("/dev/urandom: {error}"))?;
        Ok(Self { file, bytes: vec![0; 1 << 16], used: 1 << 16 })
    }
}

impl RandomSource for System {
    fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
        if self.bytes.len() - self.used < out.len() {
            self.file.read_exact(&mut self.bytes).map_err(|_| RandomError)?;
            self.used = 0;
        }
        out.copy_from_slice(self.bytes.get(self.used..self.used + out.len()).ok_or(RandomError)?);
        self.used += out.len();
        Ok(())
    }
}

fn run<P: Params>(count: usize) -> Result<(), String> {
    let mut rng = System::open()?;
    let backends = Backend::available();
    // Who makes the key, who encapsulates, who decapsulates: all combinations in turn.
    let select = |number: usize| {
        let index = if backends.len() == 1 { 0 } else { number & 1 };
        Backend::select(backends[index]).map_err(|error| error.to_string())
    };
    let (start, mut shown) = (Instant::now(), Instant::now());
    let (mut done, mut forged) = (0, 0);
    while done < count {
        let batch_number = done >> 5;
        select(batch_number)?;
        let pairs = keys::<P>(batch_number, &mut rng).map_err(|error| error.to_string())?;
        for (i, pair) in pairs.into_iter().enumerate().take(count - done) {
            // From their bytes, as a peer has them.
            let whole = "a key that was just made is whole";
            let public = PublicKey::<P>::from_bytes(pair.public().as_bytes()).expect(whole);
            let secret = SecretKey::<P>::from_bytes(pair.secret().as_bytes()).expect(whole);
            let number = batch_number + i;
            select(number >> 1)?;
            let encapsulated = if number.is_multiple_of(RARE) {
                PreparedPublicKey::new(&public).encapsulate(&mut rng)
            } else {
                encapsulate(&public, &mut rng)
            };
            let (ciphertext, sent) = encapsulated.map_err(|error| error.to_string())?;
            select(number >> 2)?;
            let receive = |ciphertext: &Ciphertext<P>| {
                if (number >> 3).is_multiple_of(RARE) {
                    PreparedSecretKey::new(&secret).decapsulate(ciphertext)
                } else {
                    decapsulate(ciphertext, &secret)
                }
            };
            if receive(&ciphertext) != sent {
                return Err(format!("{}: round trip {}: the session keys differ", P::NAME, done + i));
            }
            if (number >> 1).is_multiple_of(RARE) {
                let mut bytes = ciphertext.as_bytes().to_vec();
                let mut random = [0; 4];
                rng.fill(&mut random).map_err(|error| error.to_string())?;
                let place = u32::from_le_bytes(random) as usize % bytes.len();
                bytes[place] ^= 1 << (i & 7);
                let ciphertext = Ciphertext::<P>::from_bytes(&bytes).expect("the length is right");
                let rejected = receive(&ciphertext);
                if rejected == sent {
                    return Err(format!("{}: round trip {}: a forgery gave the session key", P::NAME, done + i));
                }
                if rejected != receive(&ciphertext) {
                    return Err(format!("{}: round trip {}: rejection is not deterministic", P::NAME, done + i));
                }
                forged += 1;
            }
        }
        done = count.min(done + BATCH.get());
        if shown.elapsed() > Duration::from_secs(10) {
            shown = Instant::now();
            eprintln!("{}: {done} of {count} after {} s", P::NAME, start.elapsed().as_secs());
        }
    }
    println!(
        "{}: {done} round trips right, {forged} forgeries rejected, {} s, backends: {}",
        P::NAME,
        start.elapsed().as_secs(),
        backends.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
    );
    Ok(())
}

/// A batch of keys; in one of so many batches each key is made for itself.
fn keys<P: Params>(batch_number: usize, rng: &mut System) -> Result<Vec<KeyPair<P>>, Error> {
    if (batch_number >> 1).is_multiple_of(RARE) {
        (0..BATCH.get()).map(|_| generate_key::<P>(rng)).collect()
    } else {
        generate_batch::<P>(BATCH, rng)
    }
}
