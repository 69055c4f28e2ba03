//! What hangs on an EVP_PKEY of ours: a public key, perhaps its secret key, and perhaps a shared secret that waits.
//!
//! The waiting secret is how a KEM fits into OpenSSL 1.1.1's public-key encryption and key agreement (section 4 of the
//! OpenSSLNTRU paper): EVP_PKEY_encrypt and EVP_PKEY_decrypt leave it here, EVP_PKEY_derive hands it out once.
//!
//! Threads may share an object. Every operation is memory-safe then, and each encapsulation is right in itself; but there
//! is one place for a waiting secret, so the last of several encapsulations wins, and of several derivations one gets it.
//! A protocol that runs handshakes at the same time uses one object for each, as TLS does.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::Ordering;

use engntru_common::key::Material;
use sntrup_core::SharedSecret;

use crate::error::{Error, Reason};
use crate::ffi::handles::Pkey;
use crate::ffi::returns::Nothing;
use crate::scheme::Scheme;
use crate::slot::{Replaceable, Slot};

/// The content of an EVP_PKEY.
///
/// Nothing here is locked: a child may be forked while other threads use the object, and would wait for them forever. A key
/// that is replaced is wiped with the object.
pub(crate) struct Keys<S: Scheme> {
    material: Replaceable<Material<S>>,
    waiting: Slot<SharedSecret>,
}

impl<S: Scheme> Keys<S> {
    /// The content of a key of ours.
    ///
    /// Errors: [`Reason::WrongKeyType`] for another type, [`Reason::NoKey`] if it is empty.
    pub(crate) fn of(pkey: Pkey<'_>) -> Result<&Self, Error> {
        Self::peek(pkey)?.ok_or_else(|| Error::new(Reason::NoKey))
    }

    /// Like [`Keys::of`], with `None` for an empty key.
    pub(crate) fn peek(pkey: Pkey<'_>) -> Result<Option<&Self>, Error> {
        check_type::<S>(pkey)?;
        // SAFETY: on an EVP_PKEY with our methods nothing hangs but a leaked box of `Keys<S>`, put there by `install`; it lives
        // as long as the EVP_PKEY, which the callback's caller keeps alive while it borrows it.
        Ok(unsafe { pkey.content().cast::<Self>().as_ref() })
    }

    /// Puts `material` into `pkey`, which may be empty, or hold another key, which is dropped.
    ///
    /// Errors: [`Reason::NotRegistered`] if OpenSSL does not find the engine by the key's type.
    pub(crate) fn install(pkey: Pkey<'_>, material: impl Into<Material<S>>) -> Result<(), Error> {
        let material = material.into();
        let nid = S::row().nid.load(Ordering::Acquire);
        if pkey.nid() == nid
            && let Some(keys) = Self::peek(pkey)?
        {
            keys.material.set(material);
            keys.waiting.clear();
            return Ok(());
        }
        let keys = Box::into_raw(Box::new(Self { material: Replaceable::new(material), waiting: Slot::empty() }));
        if pkey.assign(nid, keys.cast::<c_void>()) {
            return Ok(());
        }
        // SAFETY: OpenSSL did not take the box, which was made a moment ago.
        drop(unsafe { Box::from_raw(keys) });
        Err(Error::new(Reason::NotRegistered))
    }

    /// Frees, and by that wipes, the content of an EVP_PKEY that is about to be freed or to change its type.
    pub(crate) fn release(pkey: Pkey<'_>) -> Nothing {
        let keys = pkey.content().cast::<Self>();
        if !keys.is_null() {
            // SAFETY: as in `peek`; OpenSSL calls this once for each content and clears the pointer.
            drop(unsafe { Box::from_raw(keys) });
        }
        Nothing
    }

    /// The key.
    pub(crate) fn material(&self) -> &Material<S> {
        self.material.get()
    }

    /// The place for the waiting secret.
    pub(crate) fn waiting(&self) -> &Slot<SharedSecret> {
        &self.waiting
    }
}

/// Errors: [`Reason::WrongKeyType`] unless the key is of this scheme and its methods are ours.
///
/// The number alone does not say so: another engine, another copy of this library or the program itself may serve it too.
fn check_type<S: Scheme>(pkey: Pkey<'_>) -> Result<(), Error> {
    let row = S::row();
    let ours = ptr::eq(pkey.asn1_method(), row.asn1_method.load(Ordering::Acquire));
    if ours && pkey.nid() == row.nid.load(Ordering::Acquire) {
        return Ok(());
    }
    Err(Error::new(Reason::WrongKeyType).with(format!("{} expected", S::NAME)))
}
