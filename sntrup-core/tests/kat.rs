//! Known answers: the response text of the NIST generator, hashed, against the published digests (PQClean; liboqs for
//! sntrup761). One request to the random source for each array, so the text depends on the order of all draws.

mod common;

use std::fmt::Write;

use common::NistDrbg;
use sha2::{Digest, Sha256};
use sntrup_core::{Backend, Params, Sntrup653, Sntrup761, Sntrup857, decapsulate, encapsulate, generate_key};

fn hex(bytes: impl AsRef<[u8]>, upper: bool) -> String {
    bytes.as_ref().iter().fold(String::new(), |mut text, byte| {
        if upper { write!(text, "{byte:02X}") } else { write!(text, "{byte:02x}") }.unwrap();
        text
    })
}

/// The text of `count` tests, joined by `joint`.
fn responses<P: Params>(count: usize, joint: &str) -> String {
    let start: Vec<u8> = (0..48).collect();
    let mut outer = NistDrbg::new(start.as_slice().try_into().unwrap());
    let tests: Vec<String> = (0..count)
        .map(|i| {
            let mut seed = [0; 48];
            outer.bytes(&mut seed);
            let mut rng = NistDrbg::new(&seed);
            let pair = generate_key::<P>(&mut rng).unwrap();
            let (ciphertext, secret) = encapsulate(pair.public(), &mut rng).unwrap();
            assert_eq!(decapsulate(&ciphertext, pair.secret()).as_bytes(), secret.as_bytes());
            let rows: [(&str, &[u8]); 5] = [
                ("seed", &seed),
                ("pk", pair.public().as_bytes()),
                ("sk", pair.secret().as_bytes()),
                ("ct", ciphertext.as_bytes()),
                ("ss", secret.as_bytes()),
            ];
            rows.iter().fold(format!("count = {i}\n"), |text, (name, value)| {
                text + &format!("{name} = {}\n", hex(value, true))
            })
        })
        .collect();
    tests.join(joint)
}

fn check<P: Params>(count: usize, digest: &str) {
    for &backend in Backend::available() {
        Backend::select(backend).unwrap();
        assert_eq!(hex(Sha256::digest(responses::<P>(count, "\n")), false), digest, "{} on {backend}", P::NAME);
    }
}

#[test]
fn sntrup653_gives_the_published_answers() {
    check::<Sntrup653>(1, "0d8643f1c81a20f4de836542224c49f01a3d4498d612f98577d76710896ed7fc");
}

#[test]
fn sntrup761_gives_the_published_answers() {
    check::<Sntrup761>(1, "afc42c3a5b10f4ef69654250097ebda9b9564570f4086744b24a6daf2bd1f89a");
}

#[test]
fn sntrup857_gives_the_published_answers() {
    check::<Sntrup857>(1, "8e58185a923122f15522eba1626f7f01f5bd5aa4503c1245df88f0e31a22d967");
}

#[test]
fn sntrup761_gives_the_published_answers_of_100_tests() {
    check::<Sntrup761>(100, "36e1e53d4e6e295e8fb804449958ad9a3719aa350e91933c65791b9117382d57");
}
