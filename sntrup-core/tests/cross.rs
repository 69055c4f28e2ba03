//! K2: a thousand runs each way against independent implementations: PQClean's C code (sntrup761) and the sntrup crate.
//! Our keys come from batches.

mod common;

use std::num::NonZeroUsize;

use common::seeded;
use pqcrypto_ntruprime::sntrup761 as pqclean;
use pqcrypto_traits::kem::{Ciphertext as _, PublicKey as _, SecretKey as _, SharedSecret as _};
use rand::SeedableRng;
use rand::rngs::StdRng;
use sntrup_core::{
    Ciphertext, Params, PublicKey, SecretKey, Sntrup653, Sntrup761, Sntrup857, decapsulate, encapsulate, generate_batch,
};

const KEYS: usize = 100;
const RUNS_PER_KEY: usize = 10;

/// The other implementation, on byte strings.
trait Other {
    fn key_pair(&mut self) -> (Vec<u8>, Vec<u8>);
    fn encapsulate(&mut self, public: &[u8]) -> (Vec<u8>, Vec<u8>);
    fn decapsulate(&mut self, ciphertext: &[u8], secret: &[u8]) -> Vec<u8>;
}

fn cross<P: Params>(mut other: impl Other) {
    let mut rng = seeded(11);
    // Our keys, their encapsulation; each ciphertext is then also damaged, and both must reject it alike.
    for pair in generate_batch::<P>(NonZeroUsize::new(KEYS).unwrap(), &mut rng).unwrap() {
        for run in 0..RUNS_PER_KEY {
            let (mut ciphertext, secret) = other.encapsulate(pair.public().as_bytes());
            let ours = |bytes: &[u8]| decapsulate(&Ciphertext::<P>::from_bytes(bytes).unwrap(), pair.secret());
            assert_eq!(secret.len(), 32);
            assert_eq!(ours(&ciphertext).as_bytes(), secret.as_slice());
            if run == 0 {
                ciphertext[17] ^= 1;
                let theirs = other.decapsulate(&ciphertext, pair.secret().as_bytes());
                assert_eq!(ours(&ciphertext).as_bytes(), theirs.as_slice());
            }
        }
    }
    // Their keys, our encapsulation, both decapsulations.
    for _ in 0..KEYS {
        let (public, secret) = other.key_pair();
        let public = PublicKey::<P>::from_bytes(&public).unwrap();
        let our_secret = SecretKey::<P>::from_bytes(&secret).unwrap();
        assert_eq!(our_secret.public_key(), public);
        for _ in 0..RUNS_PER_KEY {
            let (ciphertext, session) = encapsulate(&public, &mut rng).unwrap();
            assert_eq!(other.decapsulate(ciphertext.as_bytes(), &secret), session.as_bytes());
        }
        let (ciphertext, session) = encapsulate(&public, &mut rng).unwrap();
        assert_eq!(decapsulate(&ciphertext, &our_secret).as_bytes(), session.as_bytes());
    }
}

struct Pqclean;

impl Other for Pqclean {
    fn key_pair(&mut self) -> (Vec<u8>, Vec<u8>) {
        let (public, secret) = pqclean::keypair();
        (public.as_bytes().to_vec(), secret.as_bytes().to_vec())
    }

    fn encapsulate(&mut self, public: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let (secret, ciphertext) = pqclean::encapsulate(&pqclean::PublicKey::from_bytes(public).unwrap());
        (ciphertext.as_bytes().to_vec(), secret.as_bytes().to_vec())
    }

    fn decapsulate(&mut self, ciphertext: &[u8], secret: &[u8]) -> Vec<u8> {
        let ciphertext = pqclean::Ciphertext::from_bytes(ciphertext).unwrap();
        pqclean::decapsulate(&ciphertext, &pqclean::SecretKey::from_bytes(secret).unwrap()).as_bytes().to_vec()
    }
}

#[test]
fn sntrup761_with_pqclean() {
    cross::<Sntrup761>(Pqclean);
}

macro_rules! with_the_sntrup_crate {
    ($($test:ident, $set:ident, $theirs:ident;)*) => {$(
        #[test]
        fn $test() {
            use sntrup::$theirs as theirs;

            struct Crate(StdRng);

            impl Other for Crate {
                fn key_pair(&mut self) -> (Vec<u8>, Vec<u8>) {
                    let (public, secret) = theirs::generate_key(&mut self.0);
                    (public.as_ref().to_vec(), secret.as_ref().to_vec())
                }

                fn encapsulate(&mut self, public: &[u8]) -> (Vec<u8>, Vec<u8>) {
                    let public = theirs::EncapsulationKey::try_from(public).unwrap();
                    let (ciphertext, secret) = public.encapsulate(&mut self.0);
                    (ciphertext.as_ref().to_vec(), secret.as_ref().to_vec())
                }

                fn decapsulate(&mut self, ciphertext: &[u8], secret: &[u8]) -> Vec<u8> {
                    let secret = theirs::DecapsulationKey::try_from(secret).unwrap();
                    secret.decapsulate(&theirs::Ciphertext::try_from(ciphertext).unwrap()).as_ref().to_vec()
                }
            }

            cross::<$set>(Crate(StdRng::seed_from_u64(5)));
        }
    )*};
}

with_the_sntrup_crate! {
    sntrup653_with_the_sntrup_crate, Sntrup653, sntrup653;
    sntrup761_with_the_sntrup_crate, Sntrup761, sntrup761;
    sntrup857_with_the_sntrup_crate, Sntrup857, sntrup857;
}
