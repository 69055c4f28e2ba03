//! sntrup alone: the keys and ciphertexts of the specification without any framing, a shared secret of 32 bytes.

use std::ffi::CStr;

use engntru_common::key::Material;
use engntru_common::scheme::Scheme;
use sntrup_core::{Ciphertext, PublicKey, SHARED_SECRET_BYTES, Sntrup761, Sntrup857, decapsulate, encapsulate};

use crate::error::Error;
use crate::key::Key;
use crate::rng::OsRandom;

/// A key of a scheme.
pub(crate) struct Plain<S: Scheme>(Material<S>);

/// What the scheme does not say: the name of its setting.
pub(crate) trait Served: Scheme {
    const GROUP_SETTING: &'static CStr;
}

impl Served for Sntrup761 {
    const GROUP_SETTING: &'static CStr = c"TLS_GROUP_ID_SNTRUP761";
}

impl Served for Sntrup857 {
    const GROUP_SETTING: &'static CStr = c"TLS_GROUP_ID_SNTRUP857";
}

impl<S: Served> Key for Plain<S> {
    const NAME: &'static CStr = S::OBJECT_NAME;
    const OID: &'static CStr = S::OID;
    const DESCRIPTION: &'static CStr = S::DESCRIPTION;
    const SECURITY_BITS: u16 = S::SECURITY_BITS as u16;
    const GROUP: u16 = S::GROUP;
    const GROUP_SETTING: &'static CStr = <S as Served>::GROUP_SETTING;
    const PUBLIC_KEY_BYTES: usize = S::PUBLIC_KEY_BYTES;
    const CIPHERTEXT_BYTES: usize = S::CIPHERTEXT_BYTES;
    const SHARED_SECRET_BYTES: usize = SHARED_SECRET_BYTES;

    fn generate() -> Result<Self, Error> {
        Ok(Self(S::stock().take(&mut OsRandom)?.into()))
    }

    fn from_public(bytes: &[u8]) -> Result<Self, Error> {
        Ok(Self(PublicKey::from_bytes(bytes)?.into()))
    }

    fn from_secret(bytes: &[u8]) -> Result<Self, Error> {
        Ok(Self(Material::from_secret(bytes, &mut OsRandom)?))
    }

    fn public(&self) -> &[u8] {
        self.0.public.as_bytes()
    }

    fn with_secret<T>(&self, take: impl FnOnce(&[u8]) -> T) -> Result<T, Error> {
        Ok(take(self.0.secret()?.as_bytes()))
    }

    fn has_secret(&self) -> bool {
        self.0.secret().is_ok()
    }

    fn check(&self) -> Result<(), Error> {
        self.0.check(&mut OsRandom)
    }

    fn encapsulate(&self, ciphertext: &mut [u8], secret: &mut [u8]) -> Result<(), Error> {
        let (sent, shared) = encapsulate(&self.0.public, &mut OsRandom)?;
        ciphertext.copy_from_slice(sent.as_bytes());
        secret.copy_from_slice(shared.as_bytes());
        Ok(())
    }

    fn decapsulate(&self, ciphertext: &[u8], secret: &mut [u8]) -> Result<(), Error> {
        // A forged ciphertext gives a secret that the sender does not have, and no error: implicit rejection.
        let shared = decapsulate(&Ciphertext::from_bytes(ciphertext)?, self.0.secret()?);
        secret.copy_from_slice(shared.as_bytes());
        Ok(())
    }
}
