//! A public key with or without its secret key, as an EVP_PKEY holds them.

use sntrup_core::{KeyPair, Params, PublicKey, RandomSource, SecretKey, decapsulate, encapsulate};

use crate::error::{Error, Reason};

/// A public key, and its secret key unless it is a peer's.
#[derive(Debug)]
pub struct Material<P: Params> {
    /// The public key.
    pub public: PublicKey<P>,
    secret: Option<SecretKey<P>>,
}

impl<P: Params> Material<P> {
    /// The secret key.
    ///
    /// Errors: [`Reason::PublicOnly`].
    pub fn secret(&self) -> Result<&SecretKey<P>, Error> {
        self.secret.as_ref().ok_or_else(|| Error::new(Reason::PublicOnly))
    }

    /// Takes a copy of a secret key from outside, and looks whether its parts fit each other.
    ///
    /// Errors: [`Reason::WrongLength`], [`Reason::InconsistentKey`], [`Reason::RandomFailed`].
    pub fn from_secret(bytes: &[u8], rng: &mut impl RandomSource) -> Result<Self, Error> {
        let secret = SecretKey::from_bytes(bytes)?;
        let material = Self { public: secret.public_key(), secret: Some(secret) };
        material.check(rng)?;
        Ok(material)
    }

    /// Encapsulates to the public key and decapsulates: both secrets agree only if f, 1/g, the public key and its stored
    /// hash fit each other.
    ///
    /// Errors: [`Reason::InconsistentKey`], [`Reason::PublicOnly`], [`Reason::RandomFailed`].
    pub fn check(&self, rng: &mut impl RandomSource) -> Result<(), Error> {
        let (ciphertext, sent) = encapsulate(&self.public, rng)?;
        let received = decapsulate(&ciphertext, self.secret()?);
        if sent == received { Ok(()) } else { Err(Error::new(Reason::InconsistentKey)) }
    }
}

impl<P: Params> From<PublicKey<P>> for Material<P> {
    fn from(public: PublicKey<P>) -> Self {
        Self { public, secret: None }
    }
}

impl<P: Params> From<KeyPair<P>> for Material<P> {
    fn from(pair: KeyPair<P>) -> Self {
        let (public, secret) = pair.into_parts();
        Self { public, secret: Some(secret) }
    }
}
