//! Keys and ciphertexts as byte strings: lengths, parts, moves and ends of their lives. Small enough for Miri.

use std::thread;

use sntrup_core::{Ciphertext, Error, Params, PublicKey, SecretKey, Sntrup653, Sntrup761, Sntrup857};

/// Strings of the right length come back as they went in, all others are refused; the public key is the right part.
fn strings<P: Params>() {
    // No two parts are alike.
    let bytes: Vec<u8> = (0..P::SECRET_KEY_BYTES).map(|i| (i ^ i >> 8) as u8).collect();
    // One too few, right, one too many.
    let sizes = [1, P::CIPHERTEXT_BYTES, P::PUBLIC_KEY_BYTES, P::SECRET_KEY_BYTES];
    for length in sizes.into_iter().flat_map(|right| right - 1..=right + 1) {
        let string: Vec<u8> = bytes.iter().copied().cycle().take(length).collect();
        let public = PublicKey::<P>::from_bytes(&string).map(|key| key.clone().as_bytes() == string);
        let ciphertext = Ciphertext::<P>::from_bytes(&string).map(|sent| sent.clone().as_bytes() == string);
        let secret = SecretKey::<P>::from_bytes(&string).map(|key| key.as_bytes() == string);
        for (came_back, right) in
            [(public, P::PUBLIC_KEY_BYTES), (ciphertext, P::CIPHERTEXT_BYTES), (secret, P::SECRET_KEY_BYTES)]
        {
            match came_back {
                Ok(same) => assert!(same && length == right, "{length} bytes"),
                Err(Error::Length { expected, got, .. }) => assert!((expected, got) == (right, length) && got != right),
                Err(other) => panic!("{other}"),
            }
        }
    }
    let secret = SecretKey::<P>::from_bytes(&bytes).unwrap();
    // f and 1/g come before the public key, rho and a hash after it.
    let small = P::P.div_ceil(4);
    let moved = thread::spawn(move || (secret.public_key(), secret)).join();
    let (public, secret) = moved.expect("a key may move to another thread and back");
    assert_eq!(public.as_bytes(), &bytes[2 * small..2 * small + P::PUBLIC_KEY_BYTES]);
    assert_eq!(secret.as_bytes(), bytes);
    assert!(format!("{secret:?}").ends_with("(redacted)"));
}

#[test]
fn sntrup653_strings() {
    strings::<Sntrup653>();
}

#[test]
fn sntrup761_strings() {
    strings::<Sntrup761>();
}

#[test]
fn sntrup857_strings() {
    strings::<Sntrup857>();
}
