//! Decoding, encapsulation and decapsulation of any bytes: no crash, every backend and every way gives the same answer, and a
//! ciphertext that was changed never gives the genuine secret.
#![no_main]

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};

use engntru_fuzz::{Noise, damaged, resized};
use libfuzzer_sys::fuzz_target;
use sntrup_core::{
    Backend, Ciphertext, Params, PreparedPublicKey, PreparedSecretKey, PublicKey, SecretKey, Sntrup653, Sntrup761,
    Sntrup857, decapsulate, encapsulate, generate_key,
};

/// A genuine secret key and a ciphertext to it, with the secret that it carries.
struct Genuine {
    key: Vec<u8>,
    ciphertext: Vec<u8>,
    secret: [u8; 32],
}

fn genuine<P: Params>() -> &'static Genuine {
    static ALL: OnceLock<Mutex<HashMap<&str, &Genuine>>> = OnceLock::new();
    let mut all = ALL.get_or_init(Mutex::default).lock().unwrap();
    all.entry(P::NAME).or_insert_with(|| {
        let mut noise = Noise(761);
        let pair = generate_key::<P>(&mut noise).unwrap();
        let (ciphertext, secret) = encapsulate(pair.public(), &mut noise).unwrap();
        Box::leak(Box::new(Genuine {
            key: pair.secret().as_bytes().to_vec(),
            ciphertext: ciphertext.as_bytes().to_vec(),
            secret: *secret.as_bytes(),
        }))
    })
}

/// The same on every backend.
fn on_each_backend<T: PartialEq>(what: &str, run: impl Fn() -> T) -> T {
    let mut answers = Backend::available().iter().map(|&backend| {
        Backend::select(backend).unwrap();
        run()
    });
    let first = answers.next().unwrap();
    assert!(answers.all(|answer| answer == first), "{what}: the backends differ");
    first
}

fn one<P: Params>(head: u8, input: &[u8]) {
    let bit = |number: u8| head >> number & 1 == 1;
    let (edits, changes_key) = (!bit(2), bit(3));
    assert_eq!(PublicKey::<P>::from_bytes(input).is_ok(), input.len() == P::PUBLIC_KEY_BYTES);
    assert_eq!(SecretKey::<P>::from_bytes(input).is_ok(), input.len() == P::SECRET_KEY_BYTES);
    assert_eq!(Ciphertext::<P>::from_bytes(input).is_ok(), input.len() == P::CIPHERTEXT_BYTES);

    let good = genuine::<P>();
    // An input of its own is a key and a ciphertext, one behind the other.
    let cut = if edits { 0 } else { input.len().min(P::SECRET_KEY_BYTES) };
    let key = match (edits, changes_key) {
        (true, false) => good.key.clone(),
        (true, true) => damaged(&good.key, true, input),
        (false, _) => resized(input[..cut].to_vec(), P::SECRET_KEY_BYTES),
    };
    let ciphertext = match (edits, changes_key) {
        (true, true) => good.ciphertext.clone(),
        _ => resized(damaged(&good.ciphertext, edits, &input[cut..]), P::CIPHERTEXT_BYTES),
    };

    let secret_key = SecretKey::<P>::from_bytes(&key).unwrap();
    let sent = Ciphertext::<P>::from_bytes(&ciphertext).unwrap();
    assert_eq!((secret_key.as_bytes(), sent.as_bytes()), (&key[..], &ciphertext[..]));
    let secret = on_each_backend("decapsulate", || *decapsulate(&sent, &secret_key).as_bytes());
    if bit(4) {
        let prepare = || *PreparedSecretKey::new(&secret_key).decapsulate(&sent).as_bytes();
        assert_eq!(on_each_backend("a prepared secret key", prepare), secret, "a prepared secret key");
    }
    if key == good.key {
        assert_eq!(secret == good.secret, ciphertext == good.ciphertext, "implicit rejection");
    }

    // The secret key holds a public key, here with any bytes in it.
    let public = secret_key.public_key();
    assert_eq!(PublicKey::<P>::from_bytes(public.as_bytes()).unwrap(), public);
    if !bit(5) {
        return;
    }
    let encapsulated = on_each_backend("encapsulate", || {
        let (ciphertext, secret) = encapsulate(&public, &mut Noise(857)).unwrap();
        (ciphertext.as_bytes().to_vec(), *secret.as_bytes())
    });
    let prepared = PreparedPublicKey::new(&public).encapsulate(&mut Noise(857)).unwrap();
    assert_eq!(encapsulated, (prepared.0.as_bytes().to_vec(), *prepared.1.as_bytes()), "a prepared public key");
}

fuzz_target!(|input: &[u8]| {
    let Some((&head, rest)) = input.split_first() else { return };
    match head & 3 {
        0 => one::<Sntrup653>(head, rest),
        1 => one::<Sntrup857>(head, rest),
        _ => one::<Sntrup761>(head, rest),
    }
});
