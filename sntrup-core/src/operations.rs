//! The operations of every parameter set, compiled here once.
//!
//! A generic function is compiled anew in each crate that calls it, and an operation contains all kernels of every
//! backend. Callers of the public functions get to these methods, which are not generic, and only link to them.

use std::num::NonZeroUsize;

use crate::backend::with_backend;
use crate::batch;
use crate::drbg::Drbg;
use crate::error::Error;
use crate::kem::{self, PreparedPublicKey, PreparedSecretKey};
use crate::keys::{Ciphertext, KeyPair, PublicKey, SecretKey, SharedSecret};
use crate::params::{Params, Sntrup653, Sntrup761, Sntrup857};
use crate::rng::RandomSource;

/// What the public functions of the same names do, with the active backend.
#[doc(hidden)]
pub trait Operations: Sized {
    fn generate_key(rng: &mut dyn RandomSource) -> Result<KeyPair<Self>, Error>
    where
        Self: Params;

    /// Adds `n`, at most [`MAX_BATCH`](batch::MAX_BATCH), pairs to `pairs`.
    fn generate_batch(n: NonZeroUsize, pairs: &mut Vec<KeyPair<Self>>, rng: &mut dyn RandomSource) -> Result<(), Error>
    where
        Self: Params;

    fn encapsulate(
        key: &PublicKey<Self>,
        rng: &mut dyn RandomSource,
    ) -> Result<(Ciphertext<Self>, SharedSecret), Error>
    where
        Self: Params;

    fn decapsulate(ciphertext: &Ciphertext<Self>, key: &SecretKey<Self>) -> SharedSecret
    where
        Self: Params;

    fn prepare_public(key: &PublicKey<Self>) -> PreparedPublicKey<Self>
    where
        Self: Params;

    fn prepare_secret(key: &SecretKey<Self>) -> PreparedSecretKey<Self>
    where
        Self: Params;

    fn encapsulate_prepared(
        key: &PreparedPublicKey<Self>,
        rng: &mut dyn RandomSource,
    ) -> Result<(Ciphertext<Self>, SharedSecret), Error>
    where
        Self: Params;

    fn decapsulate_prepared(ciphertext: &Ciphertext<Self>, key: &PreparedSecretKey<Self>) -> SharedSecret
    where
        Self: Params;
}

macro_rules! operations {
    ($($set:ident)*) => {$(
        impl Operations for $set {
            fn generate_key(rng: &mut dyn RandomSource) -> Result<KeyPair<Self>, Error> {
                with_backend!(k => kem::key_gen(rng, k))
            }

            fn generate_batch(
                n: NonZeroUsize,
                pairs: &mut Vec<KeyPair<Self>>,
                rng: &mut dyn RandomSource,
            ) -> Result<(), Error> {
                with_backend!(k => batch::batch(n.get(), pairs, &mut Drbg::new(rng, k)?, k))
            }

            fn encapsulate(
                key: &PublicKey<Self>,
                rng: &mut dyn RandomSource,
            ) -> Result<(Ciphertext<Self>, SharedSecret), Error> {
                with_backend!(k => kem::encap_to(key, rng, k))
            }

            fn decapsulate(ciphertext: &Ciphertext<Self>, key: &SecretKey<Self>) -> SharedSecret {
                with_backend!(k => kem::decap_with(ciphertext, key, k))
            }

            fn prepare_public(key: &PublicKey<Self>) -> PreparedPublicKey<Self> {
                with_backend!(k => PreparedPublicKey::prepare(key, k))
            }

            fn prepare_secret(key: &SecretKey<Self>) -> PreparedSecretKey<Self> {
                with_backend!(k => PreparedSecretKey::prepare(key, k))
            }

            fn encapsulate_prepared(
                key: &PreparedPublicKey<Self>,
                rng: &mut dyn RandomSource,
            ) -> Result<(Ciphertext<Self>, SharedSecret), Error> {
                with_backend!(k => key.encap(rng, k))
            }

            fn decapsulate_prepared(ciphertext: &Ciphertext<Self>, key: &PreparedSecretKey<Self>) -> SharedSecret {
                with_backend!(k => key.decap(ciphertext, k))
            }
        }
    )*};
}

operations! { Sntrup653 Sntrup761 Sntrup857 }
