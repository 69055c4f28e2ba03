//! EVP_PKEY_METHOD: key generation, and the KEM as encryption, decryption and derivation.
//!
//! Encapsulation is EVP_PKEY_encrypt with NULL input: the output is the ciphertext, and the secret waits in the key
//! object. Decapsulation is EVP_PKEY_decrypt with NULL output. EVP_PKEY_derive on the same key object hands the secret out
//! once and wipes it. EVP_PKEY_FLAG_AUTOARGLEN must stay unset: it would catch the NULL output of a decapsulation.

use std::ffi::{c_int, c_uchar, c_void};

use sntrup_core::{Ciphertext, SHARED_SECRET_BYTES, decapsulate, encapsulate};

use crate::error::{Error, Function, Reason};
use crate::ffi::guard::guard;
use crate::ffi::handles::{self, Output, Pkey};
use crate::ffi::returns::{Done, Reply};
use crate::ffi::sys;
use crate::keypair::Keys;
use crate::rng::OpensslRandom;
use crate::scheme::Scheme;

/// The operations of a scheme under the number `nid`; NULL if there is no memory.
pub(crate) fn new<S: Scheme>(nid: c_int) -> *mut sys::EVP_PKEY_METHOD {
    // SAFETY: the callbacks have the types that the setters declare; the method is ours until it is given away.
    unsafe {
        let method = sys::EVP_PKEY_meth_new(nid, 0);
        if !method.is_null() {
            sys::EVP_PKEY_meth_set_copy(method, copy);
            sys::EVP_PKEY_meth_set_keygen(method, None, keygen::<S>);
            sys::EVP_PKEY_meth_set_encrypt(method, None, encrypt::<S>);
            sys::EVP_PKEY_meth_set_decrypt(method, None, decrypt::<S>);
            sys::EVP_PKEY_meth_set_derive(method, None, derive::<S>);
            sys::EVP_PKEY_meth_set_ctrl(method, ctrl, None);
        }
        method
    }
}

unsafe extern "C" fn keygen<S: Scheme>(_: *mut sys::EVP_PKEY_CTX, pkey: *mut sys::EVP_PKEY) -> c_int {
    // SAFETY: EVP_PKEY_keygen gives an EVP_PKEY to fill.
    guard(Function::Keygen, || do_keygen::<S>(unsafe { Pkey::borrow(pkey) }?))
}

unsafe extern "C" fn encrypt<S: Scheme>(
    ctx: *mut sys::EVP_PKEY_CTX,
    out: *mut c_uchar,
    outlen: *mut usize,
    input: *const c_uchar,
    inlen: usize,
) -> c_int {
    // SAFETY: EVP_PKEY_encrypt gives a live context and, by its documentation, a buffer of *outlen bytes or NULL.
    guard(Function::Encrypt, || unsafe {
        do_encrypt::<S>(Pkey::of_context(ctx)?, Output::borrow(out, outlen)?, !input.is_null() || inlen != 0)
    })
}

unsafe extern "C" fn decrypt<S: Scheme>(
    ctx: *mut sys::EVP_PKEY_CTX,
    out: *mut c_uchar,
    outlen: *mut usize,
    input: *const c_uchar,
    inlen: usize,
) -> c_int {
    // SAFETY: EVP_PKEY_decrypt gives a live context, and its caller a ciphertext of inlen bytes.
    guard(Function::Decrypt, || unsafe {
        do_decrypt::<S>(Pkey::of_context(ctx)?, Output::borrow(out, outlen)?, handles::bytes(input, inlen))
    })
}

unsafe extern "C" fn derive<S: Scheme>(ctx: *mut sys::EVP_PKEY_CTX, key: *mut c_uchar, keylen: *mut usize) -> c_int {
    // SAFETY: EVP_PKEY_derive gives a live context and a buffer of *keylen bytes or NULL.
    guard(Function::Derive, || unsafe { do_derive::<S>(Pkey::of_context(ctx)?, Output::borrow(key, keylen)?) })
}

unsafe extern "C" fn ctrl(_: *mut sys::EVP_PKEY_CTX, kind: c_int, _: c_int, _: *mut c_void) -> c_int {
    guard(Function::PkeyCtxCtrl, || {
        // Asked twice by EVP_PKEY_derive_set_peer, before and after it checks the peer. The peer itself is not used: the
        // secret waits in the context's own key.
        Ok(if kind == sys::EVP_PKEY_CTRL_PEER_KEY { Reply::Done } else { Reply::Unsupported })
    })
}

unsafe extern "C" fn copy(_: *mut sys::EVP_PKEY_CTX, _: *const sys::EVP_PKEY_CTX) -> c_int {
    // A context has no data of ours; its key is shared by reference.
    guard(Function::PkeyCtxCopy, || Ok(Done))
}

fn do_keygen<S: Scheme>(pkey: Pkey<'_>) -> Result<Done, Error> {
    Keys::<S>::install(pkey, S::stock().take(&mut OpensslRandom)?)?;
    Ok(Done)
}

fn do_encrypt<S: Scheme>(pkey: Pkey<'_>, mut out: Output<'_>, has_input: bool) -> Result<Done, Error> {
    if has_input {
        return Err(Error::new(Reason::PlaintextGiven));
    }
    let keys = Keys::<S>::of(pkey)?;
    if out.is_size_query() {
        out.set_size(S::CIPHERTEXT_BYTES);
        return Ok(Done);
    }
    // What an earlier operation left is no answer to this one, whatever becomes of it.
    keys.waiting().clear();
    out.require(S::CIPHERTEXT_BYTES)?;
    let (ciphertext, secret) = encapsulate(&keys.material().public, &mut OpensslRandom)?;
    out.write(ciphertext.as_bytes())?;
    keys.waiting().put(secret);
    Ok(Done)
}

fn do_decrypt<S: Scheme>(pkey: Pkey<'_>, mut out: Output<'_>, ciphertext: &[u8]) -> Result<Done, Error> {
    let keys = Keys::<S>::of(pkey)?;
    keys.waiting().clear();
    if !out.is_size_query() {
        return Err(Error::new(Reason::OutputGiven));
    }
    let material = keys.material();
    let secret_key = material.secret()?;
    let ciphertext = Ciphertext::from_bytes(ciphertext)?;
    // A forged ciphertext gives a secret that the sender does not have, and no error: implicit rejection.
    let secret = decapsulate(&ciphertext, secret_key);
    keys.waiting().put(secret);
    out.set_size(SHARED_SECRET_BYTES);
    Ok(Done)
}

fn do_derive<S: Scheme>(pkey: Pkey<'_>, mut out: Output<'_>) -> Result<Done, Error> {
    let keys = Keys::<S>::of(pkey)?;
    if out.is_size_query() {
        out.set_size(SHARED_SECRET_BYTES);
        return Ok(Done);
    }
    // A buffer that is too small leaves the secret where it is.
    out.require(SHARED_SECRET_BYTES)?;
    let secret = keys.waiting().take().ok_or_else(|| Error::new(Reason::NoSharedSecret))?;
    out.write(secret.as_bytes())?;
    Ok(Done)
}
