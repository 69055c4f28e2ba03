//! The peers. Each is called as its users call it, and is checked against us (or itself) before it is timed.

use crate::contest::{Entry, Operation};
use crate::random;
use std::ffi::c_int;
use std::hint::black_box;

/// Adds the entries of every peer.
pub fn entries(entries: &mut Vec<Entry>) {
    pqcrypto::entries(entries);
    sntrup_crate::entries(entries);
    liboqs::entries(entries);
    aws_lc::entries(entries);
    libcrux::entries(entries);
}

/// An entry of a peer.
fn entry(
    operation: Operation,
    implementation: &str,
    parameter_set: &'static str,
    random: &'static str,
    call: impl FnMut() + 'static,
) -> Entry {
    Entry {
        operation,
        implementation: implementation.to_owned(),
        parameter_set,
        batch: 1,
        random,
        variant: None,
        before: Box::new(|| ()),
        call: Box::new(call),
    }
}

/// Holds a peer to us: a key pair of the peer must work with our encapsulation and decapsulation.
///
/// `decapsulate` is the peer's decapsulation with the secret key of the pair.
fn agrees_with_us<P: sntrup_core::Params>(
    peer: &str,
    public: &[u8],
    secret: &[u8],
    decapsulate: impl FnOnce(&[u8]) -> Vec<u8>,
) {
    let mut rng = random::Source::user();
    let key = sntrup_core::PublicKey::<P>::from_bytes(public).expect("the peer's public key is valid");
    let (ciphertext, shared) = sntrup_core::encapsulate(&key, &mut rng).expect("encapsulation works");
    assert_eq!(decapsulate(ciphertext.as_bytes()), shared.as_bytes(), "{peer} and we disagree on {}", P::NAME);
    let key = sntrup_core::SecretKey::<P>::from_bytes(secret).expect("the peer's secret key is valid");
    let ours = sntrup_core::decapsulate(&ciphertext, &key);
    assert_eq!(ours.as_bytes(), shared.as_bytes(), "we do not read {peer}'s secret key of {}", P::NAME);
}

/// PQClean's code in `pqcrypto-ntruprime`, both builds.
mod pqcrypto {
    use super::*;
    use pqcrypto_ntruprime::ffi;
    use sntrup_core::{Params, Sntrup653, Sntrup761, Sntrup857};

    /// The three functions of a build.
    struct Functions {
        keypair: unsafe extern "C" fn(*mut u8, *mut u8) -> c_int,
        enc: unsafe extern "C" fn(*mut u8, *mut u8, *const u8) -> c_int,
        dec: unsafe extern "C" fn(*mut u8, *const u8, *const u8) -> c_int,
    }

    macro_rules! functions {
        ($keypair:ident, $enc:ident, $dec:ident) => {
            Functions { keypair: ffi::$keypair, enc: ffi::$enc, dec: ffi::$dec }
        };
    }

    pub fn entries(entries: &mut Vec<Entry>) {
        let clean = "pqcrypto-clean";
        add::<Sntrup653>(
            clean,
            functions!(
                PQCLEAN_SNTRUP653_CLEAN_crypto_kem_keypair,
                PQCLEAN_SNTRUP653_CLEAN_crypto_kem_enc,
                PQCLEAN_SNTRUP653_CLEAN_crypto_kem_dec
            ),
            entries,
        );
        add::<Sntrup761>(
            clean,
            functions!(
                PQCLEAN_SNTRUP761_CLEAN_crypto_kem_keypair,
                PQCLEAN_SNTRUP761_CLEAN_crypto_kem_enc,
                PQCLEAN_SNTRUP761_CLEAN_crypto_kem_dec
            ),
            entries,
        );
        add::<Sntrup857>(
            clean,
            functions!(
                PQCLEAN_SNTRUP857_CLEAN_crypto_kem_keypair,
                PQCLEAN_SNTRUP857_CLEAN_crypto_kem_enc,
                PQCLEAN_SNTRUP857_CLEAN_crypto_kem_dec
            ),
            entries,
        );
        // The build flags of the crate let the compiler use these beside AVX2.
        let avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("pclmulqdq");
        if !avx2 {
            eprintln!("bench: this processor has no AVX2, so pqcrypto-avx2 is left out");
            return;
        }
        let avx2 = "pqcrypto-avx2";
        add::<Sntrup653>(
            avx2,
            functions!(
                PQCLEAN_SNTRUP653_AVX2_crypto_kem_keypair,
                PQCLEAN_SNTRUP653_AVX2_crypto_kem_enc,
                PQCLEAN_SNTRUP653_AVX2_crypto_kem_dec
            ),
            entries,
        );
        add::<Sntrup761>(
            avx2,
            functions!(
                PQCLEAN_SNTRUP761_AVX2_crypto_kem_keypair,
                PQCLEAN_SNTRUP761_AVX2_crypto_kem_enc,
                PQCLEAN_SNTRUP761_AVX2_crypto_kem_dec
            ),
            entries,
        );
        add::<Sntrup857>(
            avx2,
            functions!(
                PQCLEAN_SNTRUP857_AVX2_crypto_kem_keypair,
                PQCLEAN_SNTRUP857_AVX2_crypto_kem_enc,
                PQCLEAN_SNTRUP857_AVX2_crypto_kem_dec
            ),
            entries,
        );
    }

    /// Buffers of the sizes that the functions of a parameter set expect, so that the calls below are safe.
    struct Peer<P> {
        functions: Functions,
        public: Vec<u8>,
        secret: Vec<u8>,
        ciphertext: Vec<u8>,
        shared: [u8; 32],
        set: std::marker::PhantomData<P>,
    }

    impl<P: Params> Peer<P> {
        fn new(functions: &Functions) -> Self {
            let mut peer = Peer {
                functions: Functions { ..*functions },
                public: vec![0; P::PUBLIC_KEY_BYTES],
                secret: vec![0; P::SECRET_KEY_BYTES],
                ciphertext: vec![0; P::CIPHERTEXT_BYTES],
                shared: [0; 32],
                set: std::marker::PhantomData,
            };
            peer.keypair();
            peer.enc();
            peer
        }

        fn keypair(&mut self) {
            // SAFETY: the buffers have the sizes of the parameter set; AVX2 is there for the avx2 build.
            let code = unsafe { (self.functions.keypair)(self.public.as_mut_ptr(), self.secret.as_mut_ptr()) };
            assert_eq!(code, 0);
        }

        fn enc(&mut self) {
            let (ciphertext, shared) = (self.ciphertext.as_mut_ptr(), self.shared.as_mut_ptr());
            // SAFETY: as in `keypair`.
            let code = unsafe { (self.functions.enc)(ciphertext, shared, self.public.as_ptr()) };
            assert_eq!(code, 0);
        }

        fn dec(&mut self) {
            let (ciphertext, secret) = (self.ciphertext.as_ptr(), self.secret.as_ptr());
            // SAFETY: as in `keypair`.
            let code = unsafe { (self.functions.dec)(self.shared.as_mut_ptr(), ciphertext, secret) };
            assert_eq!(code, 0);
        }
    }

    fn add<P: Params>(implementation: &str, functions: Functions, entries: &mut Vec<Entry>) {
        let mut check = Peer::<P>::new(&functions);
        let (public, secret) = (check.public.clone(), check.secret.clone());
        agrees_with_us::<P>(implementation, &public, &secret, |ciphertext| {
            check.ciphertext.copy_from_slice(ciphertext);
            check.dec();
            check.shared.to_vec()
        });
        let mut peer = Peer::<P>::new(&functions);
        entries.push(entry(Operation::Keygen, implementation, P::NAME, random::SYSTEM, move || peer.keypair()));
        let mut peer = Peer::<P>::new(&functions);
        entries.push(entry(Operation::Encapsulate, implementation, P::NAME, random::SYSTEM, move || peer.enc()));
        let mut peer = Peer::<P>::new(&functions);
        entries.push(entry(Operation::Decapsulate, implementation, P::NAME, "none", move || peer.dec()));
    }
}

/// The crate `sntrup`.
mod sntrup_crate {
    use super::*;
    use sntrup::{
        DecapsulationKey, EncapsulationKey, Sntrup653Params, Sntrup761Params, Sntrup857Params, SntrupKem, SntrupParams,
    };
    use std::rc::Rc;

    pub fn entries(entries: &mut Vec<Entry>) {
        add::<Sntrup653Params, sntrup_core::Sntrup653>(entries);
        add::<Sntrup761Params, sntrup_core::Sntrup761>(entries);
        add::<Sntrup857Params, sntrup_core::Sntrup857>(entries);
    }

    fn add<S: SntrupParams + 'static, P: sntrup_core::Params>(entries: &mut Vec<Entry>) {
        let implementation = "sntrup-crate";
        let mut rng = random::user();
        let (public, secret) = SntrupKem::<S>::generate_key(&mut rng);
        agrees_with_us::<P>(implementation, public.as_ref(), secret.as_ref(), |ciphertext| {
            let ciphertext = ciphertext.try_into().expect("the ciphertext has the right length");
            secret.decapsulate(&ciphertext).as_ref().to_vec()
        });
        let ciphertext = Rc::new(public.encapsulate(&mut rng).0);

        let mut keygen_rng = random::user();
        entries.push(entry(Operation::Keygen, implementation, P::NAME, random::USER, move || {
            black_box(SntrupKem::<S>::generate_key(&mut keygen_rng));
        }));
        let (public_bytes, mut enc_rng) = (public.as_ref().to_vec(), random::user());
        entries.push(entry(Operation::Encapsulate, implementation, P::NAME, random::USER, move || {
            let key = EncapsulationKey::<S>::try_from(black_box(public_bytes.as_slice())).expect("the key is valid");
            black_box(key.encapsulate(&mut enc_rng));
        }));
        // The crate keeps the decoded key and its hash from the first use on.
        entries.push(entry(Operation::EncapsulatePrepared, implementation, P::NAME, random::USER, move || {
            black_box(black_box(&public).encapsulate(&mut rng));
        }));
        let (secret_bytes, same) = (secret.as_ref().to_vec(), Rc::clone(&ciphertext));
        entries.push(entry(Operation::Decapsulate, implementation, P::NAME, "none", move || {
            let key = DecapsulationKey::<S>::try_from(black_box(secret_bytes.as_slice())).expect("the key is valid");
            black_box(key.decapsulate(black_box(&*same)));
        }));
        entries.push(entry(Operation::DecapsulatePrepared, implementation, P::NAME, "none", move || {
            black_box(secret.decapsulate(black_box(&*ciphertext)));
        }));
    }
}

/// liboqs through the crate `oqs`.
mod liboqs {
    use super::*;
    use oqs::kem::{Algorithm, Kem};

    pub fn entries(entries: &mut Vec<Entry>) {
        let (implementation, set) = ("liboqs", "sntrup761");
        oqs::init();
        let kem = || Kem::new(Algorithm::NtruPrimeSntrup761).expect("liboqs was built with sntrup761");
        let keygen = kem();
        let (public, secret) = keygen.keypair().expect("key generation works");
        agrees_with_us::<sntrup_core::Sntrup761>(implementation, public.as_ref(), secret.as_ref(), |ciphertext| {
            let ciphertext = keygen.ciphertext_from_bytes(ciphertext).expect("the ciphertext has the right length");
            keygen.decapsulate(&secret, ciphertext).expect("decapsulation works").into_vec()
        });
        let (ciphertext, _) = keygen.encapsulate(&public).expect("encapsulation works");
        entries.push(entry(Operation::Keygen, implementation, set, random::LIBCRYPTO, move || {
            black_box(keygen.keypair().expect("key generation works"));
        }));
        let enc = kem();
        entries.push(entry(Operation::Encapsulate, implementation, set, random::LIBCRYPTO, move || {
            black_box(enc.encapsulate(black_box(&public)).expect("encapsulation works"));
        }));
        let dec = kem();
        entries.push(entry(Operation::Decapsulate, implementation, set, "none", move || {
            black_box(dec.decapsulate(black_box(&secret), black_box(&ciphertext)).expect("decapsulation works"));
        }));
    }
}

/// ML-KEM-768 and X25519 of `aws-lc-rs`.
mod aws_lc {
    use super::*;
    use aws_lc_rs::agreement::{PrivateKey, UnparsedPublicKey, X25519, agree};
    use aws_lc_rs::error::Unspecified;
    use aws_lc_rs::kem::{DecapsulationKey, EncapsulationKey, ML_KEM_768};

    const IMPLEMENTATION: &str = "aws-lc";

    pub fn entries(entries: &mut Vec<Entry>) {
        ml_kem(entries);
        x25519(entries);
    }

    fn ml_kem(entries: &mut Vec<Entry>) {
        let set = "ml-kem-768";
        let secret = DecapsulationKey::generate(&ML_KEM_768).expect("key generation works");
        let public = secret.encapsulation_key().expect("the pair has a public key");
        let bytes = public.key_bytes().expect("the key has bytes").as_ref().to_vec();
        let (ciphertext, shared) = public.encapsulate().expect("encapsulation works");
        let ciphertext = ciphertext.as_ref().to_vec();
        let again = secret.decapsulate(ciphertext.as_slice().into()).expect("decapsulation works");
        assert_eq!(shared.as_ref(), again.as_ref(), "aws-lc disagrees with itself");

        entries.push(entry(Operation::Keygen, IMPLEMENTATION, set, random::AWS_LC, || {
            black_box(DecapsulationKey::generate(&ML_KEM_768).expect("key generation works"));
        }));
        entries.push(entry(Operation::Encapsulate, IMPLEMENTATION, set, random::AWS_LC, move || {
            let key = EncapsulationKey::new(&ML_KEM_768, black_box(&bytes)).expect("the key is valid");
            black_box(key.encapsulate().expect("encapsulation works"));
        }));
        entries.push(entry(Operation::EncapsulatePrepared, IMPLEMENTATION, set, random::AWS_LC, move || {
            black_box(black_box(&public).encapsulate().expect("encapsulation works"));
        }));
        entries.push(entry(Operation::Decapsulate, IMPLEMENTATION, set, "none", move || {
            let ciphertext = black_box(ciphertext.as_slice()).into();
            black_box(secret.decapsulate(ciphertext).expect("decapsulation works"));
        }));
    }

    fn x25519(entries: &mut Vec<Entry>) {
        let set = "x25519";
        let own = PrivateKey::generate(&X25519).expect("key generation works");
        let peer = PrivateKey::generate(&X25519).expect("key generation works");
        let peer = peer.compute_public_key().expect("the pair has a public key").as_ref().to_vec();
        entries.push(entry(Operation::Keygen, IMPLEMENTATION, set, random::AWS_LC, || {
            let key = PrivateKey::generate(&X25519).expect("key generation works");
            black_box(key.compute_public_key().expect("the pair has a public key"));
        }));
        entries.push(entry(Operation::Derive, IMPLEMENTATION, set, "none", move || {
            let peer = UnparsedPublicKey::new(&X25519, black_box(&peer));
            let done: Result<(), Unspecified> = agree(&own, peer, Unspecified, |shared| {
                black_box(shared);
                Ok(())
            });
            done.expect("the derivation works");
        }));
    }
}

/// ML-KEM-768 of `libcrux-ml-kem`.
mod libcrux {
    use super::*;
    use libcrux_ml_kem::mlkem768::avx2::unpacked;
    use libcrux_ml_kem::mlkem768::{MlKem768KeyPair, decapsulate, rand::encapsulate, rand::generate_key_pair};
    use rand::Rng;

    pub fn entries(entries: &mut Vec<Entry>) {
        let (implementation, set) = ("libcrux", "ml-kem-768");
        let mut rng = random::user();
        let pair = generate_key_pair(&mut rng).expect("key generation works");
        let (ciphertext, shared) = encapsulate(pair.public_key(), &mut rng).expect("encapsulation works");
        assert_eq!(decapsulate(pair.private_key(), &ciphertext), shared, "libcrux disagrees with itself");
        let public = pair.public_key().clone();
        if is_x86_feature_detected!("avx2") {
            prepared(&pair, entries);
        }

        let mut keygen_rng = random::user();
        entries.push(entry(Operation::Keygen, implementation, set, random::USER, move || {
            black_box(generate_key_pair(&mut keygen_rng).expect("key generation works"));
        }));
        entries.push(entry(Operation::Encapsulate, implementation, set, random::USER, move || {
            black_box(encapsulate(black_box(&public), &mut rng).expect("encapsulation works"));
        }));
        entries.push(entry(Operation::Decapsulate, implementation, set, "none", move || {
            black_box(decapsulate(black_box(pair.private_key()), black_box(&ciphertext)));
        }));
    }

    /// The crate's unpacked keys, which exist for a build only, not behind its run-time choice.
    fn prepared(pair: &MlKem768KeyPair, entries: &mut Vec<Entry>) {
        let (implementation, set) = ("libcrux", "ml-kem-768");
        let mut rng = random::user();
        let mut public = unpacked::init_public_key();
        unpacked::unpacked_public_key(pair.public_key(), &mut public);
        let mut secret = unpacked::init_key_pair();
        unpacked::key_pair_from_private_mut(pair.private_key(), &mut secret);
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        let (ciphertext, shared) = unpacked::encapsulate(&public, seed);
        assert_eq!(unpacked::decapsulate(&secret, &ciphertext), shared, "libcrux disagrees with itself, unpacked");
        entries.push(entry(Operation::EncapsulatePrepared, implementation, set, random::USER, move || {
            rng.fill_bytes(&mut seed);
            black_box(unpacked::encapsulate(black_box(&public), seed));
        }));
        entries.push(entry(Operation::DecapsulatePrepared, implementation, set, "none", move || {
            black_box(unpacked::decapsulate(black_box(&secret), black_box(&ciphertext)));
        }));
    }
}
