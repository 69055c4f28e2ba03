//! What a key is, for the functions of KEYMGMT, KEM, ENCODER and DECODER: one trait, and the object that C holds.

use std::ffi::{CStr, c_int};
use std::sync::{Arc, OnceLock};

use crate::error::{Error, Reason};
use crate::ffi::handles::Held;
use crate::ffi::upcalls::Core;

/// A public key of one algorithm, perhaps with its secret key.
///
/// An algorithm of TLS and of EVP has one name for both. The sizes are in bytes.
pub(crate) trait Key: Sized + Send + Sync + 'static {
    /// The name.
    const NAME: &'static CStr;
    /// Object identifier in dotted form.
    const OID: &'static CStr;
    /// What `openssl list` says about it.
    const DESCRIPTION: &'static CStr;
    /// Strength in bits, as OpenSSL's security levels count.
    const SECURITY_BITS: u16;
    /// Code point of the TLS group unless openssl.cnf has another.
    const GROUP: u16;
    /// The line of openssl.cnf that sets the code point.
    const GROUP_SETTING: &'static CStr;
    /// Size of a public key, the client's share.
    const PUBLIC_KEY_BYTES: usize;
    /// Size of a ciphertext, the server's share.
    const CIPHERTEXT_BYTES: usize;
    /// Size of a shared secret.
    const SHARED_SECRET_BYTES: usize;

    /// A new pair.
    fn generate() -> Result<Self, Error>;
    /// From an encoded public key. Errors: [`Reason::WrongLength`].
    fn from_public(bytes: &[u8]) -> Result<Self, Error>;
    /// From an encoded secret key. Errors: [`Reason::WrongLength`], [`Reason::InconsistentKey`].
    fn from_secret(bytes: &[u8]) -> Result<Self, Error>;
    /// The encoded public key.
    fn public(&self) -> &[u8];
    /// Lends the encoded secret key to `take`. Errors: [`Reason::PublicOnly`].
    fn with_secret<T>(&self, take: impl FnOnce(&[u8]) -> T) -> Result<T, Error>;
    /// Whether there is a secret key.
    fn has_secret(&self) -> bool;
    /// Looks whether secret and public key fit each other. Errors: [`Reason::InconsistentKey`], [`Reason::PublicOnly`].
    fn check(&self) -> Result<(), Error>;
    /// Encapsulates; both buffers have the sizes above.
    fn encapsulate(&self, ciphertext: &mut [u8], secret: &mut [u8]) -> Result<(), Error>;
    /// Decapsulates into a buffer of the size above. Errors: [`Reason::WrongLength`], [`Reason::PublicOnly`].
    fn decapsulate(&self, ciphertext: &[u8], secret: &mut [u8]) -> Result<(), Error>;
}

/// What hangs on an EVP_PKEY: empty at first, filled once.
///
/// There is no lock: threads that share an EVP_PKEY only read the key, and a forked child finds nothing held.
pub(crate) struct Object<K: Key> {
    core: Core,
    key: OnceLock<Arc<K>>,
}

impl<K: Key> Object<K> {
    /// An empty object.
    pub(crate) fn empty(core: Core) -> Self {
        Self { core, key: OnceLock::new() }
    }

    /// An object with a key.
    pub(crate) fn of(core: Core, key: impl Into<Arc<K>>) -> Self {
        Self { core, key: OnceLock::from(key.into()) }
    }

    /// Fills an empty object.
    ///
    /// Errors: [`Reason::Unsupported`] if it holds a key already.
    pub(crate) fn fill(&self, key: K) -> Result<(), Error> {
        let full = |_| Error::new(Reason::Unsupported).with("the object holds a key already: make a new one");
        self.key.set(Arc::new(key)).map_err(full)
    }

    /// The key.
    ///
    /// Errors: [`Reason::NoKey`].
    pub(crate) fn key(&self) -> Result<&Arc<K>, Error> {
        self.peek().ok_or_else(|| Error::new(Reason::NoKey))
    }

    /// The key, if there is one.
    pub(crate) fn peek(&self) -> Option<&Arc<K>> {
        self.key.get()
    }
}

impl<K: Key> Held for Object<K> {
    fn core(&self) -> Core {
        self.core
    }
}

/// Whether `selection` asks for any of the parts in `parts`.
pub(crate) fn selects(selection: c_int, parts: c_int) -> bool {
    selection & parts != 0
}

/// Errors: [`Reason::WrongLength`] unless `bytes` are `expected` many.
pub(crate) fn require_length(what: &CStr, expected: usize, bytes: &[u8]) -> Result<(), Error> {
    if bytes.len() == expected {
        return Ok(());
    }
    let detail = format!("{}: {expected} bytes expected, {} given", what.to_string_lossy(), bytes.len());
    Err(Error::new(Reason::WrongLength).with(detail))
}
