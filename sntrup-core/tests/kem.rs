//! Properties of the KEM: right and wrong ciphertexts, implicit rejection, wrong lengths, nothing secret printed.

mod common;

use std::collections::HashSet;

use common::{hash, seeded};
use sntrup_core::{
    Backend, Ciphertext, Error, Params, PublicKey, SHARED_SECRET_BYTES, SecretKey, Sntrup653, Sntrup761, Sntrup857,
    decapsulate, encapsulate, generate_key,
};

/// Runs the body for all parameter sets on all backends.
macro_rules! every {
    ($name:ident, $body:ident) => {
        #[test]
        fn $name() {
            for &backend in Backend::available() {
                Backend::select(backend).unwrap();
                $body::<Sntrup653>();
                $body::<Sntrup761>();
                $body::<Sntrup857>();
            }
        }
    };
}

fn round_trip<P: Params>() {
    let mut rng = seeded(1);
    let mut secrets = HashSet::new();
    for _ in 0..5 {
        let pair = generate_key::<P>(&mut rng).unwrap();
        assert_eq!(pair.public().as_bytes().len(), P::PUBLIC_KEY_BYTES);
        assert_eq!(pair.secret().as_bytes().len(), P::SECRET_KEY_BYTES);
        assert_eq!(&pair.secret().public_key(), pair.public());
        for _ in 0..20 {
            let (ciphertext, secret) = encapsulate(pair.public(), &mut rng).unwrap();
            assert_eq!(ciphertext.as_bytes().len(), P::CIPHERTEXT_BYTES);
            assert_eq!(secret.as_bytes().len(), SHARED_SECRET_BYTES);
            assert_eq!(decapsulate(&ciphertext, pair.secret()), secret);
            assert!(secrets.insert(*secret.as_bytes()));
            // By way of bytes.
            let public = PublicKey::<P>::from_bytes(pair.public().as_bytes()).unwrap();
            let copy = SecretKey::<P>::from_bytes(pair.secret().as_bytes()).unwrap();
            let again = Ciphertext::<P>::from_bytes(ciphertext.as_bytes()).unwrap();
            assert!(public == *pair.public() && again == ciphertext && again.clone() == ciphertext);
            assert_eq!(decapsulate(&again, &copy).as_bytes(), secret.as_bytes());
        }
    }
}
every!(what_is_encapsulated_comes_out, round_trip);

/// K1: flip one bit in each byte of a ciphertext; all-zero; all-0xFF; another key's; another confirmation: the secret
/// is Hash_0(Hash_3(rho) || c), and again the same.
fn rejection<P: Params>() {
    let mut rng = seeded(2);
    let pair = generate_key::<P>(&mut rng).unwrap();
    let other = generate_key::<P>(&mut rng).unwrap();
    let (genuine, secret) = encapsulate(pair.public(), &mut rng).unwrap();
    let mut forged: Vec<Vec<u8>> = (0..P::CIPHERTEXT_BYTES)
        .map(|i| {
            let mut bytes = genuine.as_bytes().to_vec();
            bytes[i] ^= 1 << (i % 8);
            bytes
        })
        .collect();
    forged.push(vec![0; P::CIPHERTEXT_BYTES]);
    forged.push(vec![0xff; P::CIPHERTEXT_BYTES]);
    forged.push(encapsulate(other.public(), &mut rng).unwrap().0.as_bytes().to_vec());

    let sk = pair.secret().as_bytes();
    let n = P::P.div_ceil(4);
    let rho = &sk[2 * n + P::PUBLIC_KEY_BYTES..][..n];
    let mut seen = HashSet::from([*secret.as_bytes()]);
    for bytes in forged {
        let ciphertext = Ciphertext::<P>::from_bytes(&bytes).unwrap();
        let got = decapsulate(&ciphertext, pair.secret());
        assert_eq!(got.as_bytes(), &hash(0, &[&hash(3, &[rho]), &bytes]), "{}", P::NAME);
        assert_eq!(decapsulate(&ciphertext, pair.secret()).as_bytes(), got.as_bytes());
        assert!(seen.insert(*got.as_bytes()));
    }
    assert_eq!(decapsulate(&genuine, pair.secret()).as_bytes(), secret.as_bytes());
}
every!(a_forged_ciphertext_gives_the_rejection_value, rejection);

/// Strings that no encoder makes are decoded as the specification does; nothing panics (debug assertions are on).
fn hostile<P: Params>() {
    let mut rng = seeded(3);
    let pair = generate_key::<P>(&mut rng).unwrap();
    let (ciphertext, _) = encapsulate(pair.public(), &mut rng).unwrap();
    for fill in [0x00, 0x55, 0xaa, 0xff] {
        let public = PublicKey::<P>::from_bytes(&vec![fill; P::PUBLIC_KEY_BYTES]).unwrap();
        encapsulate(&public, &mut rng).unwrap();
        let secret = SecretKey::<P>::from_bytes(&vec![fill; P::SECRET_KEY_BYTES]).unwrap();
        let n = P::P.div_ceil(4);
        let rejected = hash(0, &[&hash(3, &[&vec![fill; n]]), ciphertext.as_bytes()]);
        assert_eq!(decapsulate(&ciphertext, &secret).as_bytes(), &rejected);
    }
}
every!(strings_that_no_encoder_makes_are_harmless, hostile);

fn lengths<P: Params>() {
    let expect = |error: Error, what: &str, expected: usize, got: usize| {
        assert!(
            matches!(error, Error::Length { what: w, expected: e, got: g }
            if w == format!("{} {what}", P::NAME) && (e, g) == (expected, got)),
            "{error:?}"
        );
        let text = error.to_string();
        for part in [P::NAME, what, &format!("expected {expected} bytes"), &format!("got {got}")] {
            assert!(text.contains(part), "{text}");
        }
    };
    for delta in [0, 1, 2, 100] {
        for n in [delta, P::PUBLIC_KEY_BYTES - 1 - delta, P::PUBLIC_KEY_BYTES + 1 + delta] {
            expect(PublicKey::<P>::from_bytes(&vec![0; n]).unwrap_err(), "public key", P::PUBLIC_KEY_BYTES, n);
        }
        for n in [delta, P::SECRET_KEY_BYTES - 1 - delta, P::SECRET_KEY_BYTES + 1 + delta] {
            expect(SecretKey::<P>::from_bytes(&vec![0; n]).unwrap_err(), "secret key", P::SECRET_KEY_BYTES, n);
        }
        for n in [delta, P::CIPHERTEXT_BYTES - 1 - delta, P::CIPHERTEXT_BYTES + 1 + delta] {
            expect(Ciphertext::<P>::from_bytes(&vec![0; n]).unwrap_err(), "ciphertext", P::CIPHERTEXT_BYTES, n);
        }
    }
    // K10: keys of the older scheme sntrup4591761 are refused, and the error says what was expected.
    expect(PublicKey::<P>::from_bytes(&[0; 1218]).unwrap_err(), "public key", P::PUBLIC_KEY_BYTES, 1218);
    expect(SecretKey::<P>::from_bytes(&[0; 1600]).unwrap_err(), "secret key", P::SECRET_KEY_BYTES, 1600);
    expect(Ciphertext::<P>::from_bytes(&[0; 1047]).unwrap_err(), "ciphertext", P::CIPHERTEXT_BYTES, 1047);
}
every!(wrong_lengths_are_named_and_older_keys_refused, lengths);

fn redaction<P: Params>() {
    let mut rng = seeded(4);
    let pair = generate_key::<P>(&mut rng).unwrap();
    let (_, secret) = encapsulate(pair.public(), &mut rng).unwrap();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let public = format!("{:?}", pair.public());
    assert!(public.contains(&hex(&pair.public().as_bytes()[..8])), "{public}");
    let printed = format!("{:?} {:?} {:?} {:#?}", pair.secret(), secret, pair, pair).to_lowercase();
    assert!(printed.contains("redacted") && printed.contains(P::NAME));
    for secret in [pair.secret().as_bytes(), secret.as_bytes()] {
        for window in secret[..32].windows(3) {
            if !pair.public().as_bytes()[..8].windows(3).any(|public| public == window) {
                let list = window.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                assert!(!printed.contains(&hex(window)) && !printed.contains(&list), "{printed}");
            }
        }
    }
}
every!(secrets_are_not_printed, redaction);

#[test]
fn backends_are_chosen_by_name() {
    for &backend in Backend::available() {
        assert_eq!(backend.to_string().parse::<Backend>().unwrap(), backend);
        Backend::select(backend).unwrap();
    }
    for bad in ["", "Portable", "avx1024", "auto"] {
        let error = bad.parse::<Backend>().unwrap_err();
        let text = error.to_string();
        assert!(text.contains(&format!("\"{bad}\"")) && text.contains("portable"), "{text}");
    }
}
