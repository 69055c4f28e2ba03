//! Keys, ciphertexts and session keys: byte strings of fixed length. Secret ones live on the heap, so that moving them
//! leaves no copy, print nothing of themselves, and are wiped when dropped.

use std::fmt;

use crate::codec::key;
use crate::ct::{self, Disclosed};
use crate::error::Error;
use crate::params::{HASH_BYTES, Params};
use crate::wipe::{Array, Secret};

/// Bytes of a [`SharedSecret`].
pub const SHARED_SECRET_BYTES: usize = HASH_BYTES;

/// `bytes` if they are `expected` many.
fn checked<'a>(what: &'static str, expected: usize, bytes: &'a [u8]) -> Result<&'a [u8], Error> {
    if bytes.len() == expected { Ok(bytes) } else { Err(Error::Length { what, expected, got: bytes.len() }) }
}

/// The first bytes of a public string, to tell one from another.
fn write_public(f: &mut fmt::Formatter<'_>, what: &str, bytes: &[u8]) -> fmt::Result {
    write!(f, "{what} (")?;
    for byte in &bytes[..8] {
        write!(f, "{byte:02x}")?;
    }
    f.write_str("..)")
}

macro_rules! public_string {
    ($(#[$doc:meta])* $type:ident, $array:ident, $bytes:ident, $what:ident) => {
        $(#[$doc])*
        pub struct $type<P: Params>(Secret<P::$array>);

        impl<P: Params> $type<P> {
            /// Takes a copy of the string. Every string of the right length is valid.
            ///
            /// # Errors
            /// [`Error::Length`] if it has another length.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
                let bytes = checked(P::$what, P::$bytes, bytes)?;
                Ok(Self::build(|out| out.copy_from_slice(bytes)))
            }

            /// The string.
            pub fn as_bytes(&self) -> &[u8] {
                self.0.as_slice()
            }

            /// The string that `write` puts over zeros.
            pub(crate) fn build(write: impl FnOnce(&mut [u8])) -> Self {
                let mut bytes = Secret::<P::$array>::zeroed();
                write(bytes.as_mut_slice());
                Self(bytes)
            }
        }

        impl<P: Params> Clone for $type<P> {
            fn clone(&self) -> Self {
                Self::build(|out| out.copy_from_slice(self.as_bytes()))
            }
        }

        impl<P: Params> PartialEq for $type<P> {
            fn eq(&self, other: &Self) -> bool {
                self.as_bytes() == other.as_bytes()
            }
        }

        impl<P: Params> Eq for $type<P> {}

        impl<P: Params> fmt::Debug for $type<P> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_public(f, P::$what, self.as_bytes())
            }
        }
    };
}

public_string! {
    /// A public key, `P::PUBLIC_KEY_BYTES` bytes: the encoding of h = g/(3f) in R/q.
    PublicKey, PublicKeyBytes, PUBLIC_KEY_BYTES, PUBLIC_KEY
}

public_string! {
    /// A ciphertext, `P::CIPHERTEXT_BYTES` bytes: the encoding of a rounded element and a confirmation of 32 bytes.
    Ciphertext, CiphertextBytes, CIPHERTEXT_BYTES, CIPHERTEXT
}

/// A secret key, `P::SECRET_KEY_BYTES` bytes: f, 1/g, the public key, rho and the hash of the public key.
pub struct SecretKey<P: Params>(Secret<P::SecretKeyBytes>);

impl<P: Params> SecretKey<P> {
    /// Takes a copy of the string; the caller wipes the original. Every string of the right length is accepted and its
    /// parts are decoded as the specification says.
    ///
    /// # Errors
    /// [`Error::Length`] if it has another length.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let bytes = checked(P::SECRET_KEY, P::SECRET_KEY_BYTES, bytes)?;
        Ok(Self::build(|out| out.copy_from_slice(bytes)))
    }

    /// The string. A copy of it is as secret as the key.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_slice()
    }

    /// The public key that the secret key contains.
    pub fn public_key(&self) -> PublicKey<P> {
        PublicKey::build(|out| out.copy_from_slice(key::split::<P>(self.as_bytes()).public_key))
    }

    /// The string that `write` puts over zeros.
    pub(crate) fn build(write: impl FnOnce(&mut [u8])) -> Self {
        let mut bytes = Secret::<P::SecretKeyBytes>::zeroed();
        write(bytes.as_mut_slice());
        Self(bytes)
    }
}

impl<P: Params> fmt::Debug for SecretKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (redacted)", P::SECRET_KEY)
    }
}

/// A session key of 32 bytes.
pub struct SharedSecret(Secret<[u8; SHARED_SECRET_BYTES]>);

impl SharedSecret {
    /// The 32 bytes. A copy of them is as secret as the session key.
    pub fn as_bytes(&self) -> &[u8; SHARED_SECRET_BYTES] {
        &self.0
    }

    /// The secret that `write` puts over zeros.
    pub(crate) fn build(write: impl FnOnce(&mut [u8; SHARED_SECRET_BYTES])) -> Self {
        let mut bytes = Secret::zeroed();
        write(&mut bytes);
        Self(bytes)
    }
}

/// Compares in constant time; whether the keys are equal is public then.
impl PartialEq for SharedSecret {
    fn eq(&self, other: &Self) -> bool {
        ct::declassify(ct::equal(self.as_bytes(), other.as_bytes()), Disclosed::EqualSessionKeys)
    }
}

impl Eq for SharedSecret {}

impl fmt::Debug for SharedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("shared secret (redacted)")
    }
}

/// A key pair.
pub struct KeyPair<P: Params> {
    public: PublicKey<P>,
    secret: SecretKey<P>,
}

impl<P: Params> KeyPair<P> {
    pub(crate) fn new(public: PublicKey<P>, secret: SecretKey<P>) -> Self {
        Self { public, secret }
    }

    /// The place of Hash_4(public key) in the secret key: its last bytes.
    pub(crate) fn public_key_hash_mut(&mut self) -> &mut [u8; HASH_BYTES] {
        self.secret.0.as_mut_slice().last_chunk_mut().expect("a secret key ends with a hash")
    }

    /// The public key.
    pub fn public(&self) -> &PublicKey<P> {
        &self.public
    }

    /// The secret key.
    pub fn secret(&self) -> &SecretKey<P> {
        &self.secret
    }

    /// Both keys.
    pub fn into_parts(self) -> (PublicKey<P>, SecretKey<P>) {
        (self.public, self.secret)
    }
}

impl<P: Params> fmt::Debug for KeyPair<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, {:?}", self.public, self.secret)
    }
}
