//! KEM: encapsulation and decapsulation.

use std::ffi::{c_int, c_uchar, c_void};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Function, Reason};
use crate::ffi::guard::{self as door, Done, Nothing, guard, on};
use crate::ffi::handles::{self, Held, Output};
use crate::ffi::sys::{self, OSSL_DISPATCH, OSSL_PARAM, entry};
use crate::ffi::upcalls::Core;
use crate::key::{Key, Object, require_length};
use crate::provider::Provider;

/// The functions for a key type.
pub(crate) struct Kem<K: Key>(PhantomData<K>);

impl<K: Key> Kem<K> {
    /// For C.
    pub(crate) const TABLE: &'static [OSSL_DISPATCH] = &[
        entry!(OSSL_FUNC_KEM_NEWCTX, kem_newctx, new::<K>),
        entry!(OSSL_FUNC_KEM_DUPCTX, kem_dupctx, dup::<K>),
        entry!(OSSL_FUNC_KEM_FREECTX, kem_freectx, free::<K>),
        entry!(OSSL_FUNC_KEM_ENCAPSULATE_INIT, kem_encapsulate_init, encapsulate_init::<K>),
        entry!(OSSL_FUNC_KEM_ENCAPSULATE, kem_encapsulate, encapsulate::<K>),
        entry!(OSSL_FUNC_KEM_DECAPSULATE_INIT, kem_decapsulate_init, decapsulate_init::<K>),
        entry!(OSSL_FUNC_KEM_DECAPSULATE, kem_decapsulate, decapsulate::<K>),
        sys::END,
    ];
}

/// An operation: the key that it is for. The lock is held only to set and to copy the reference.
struct Operation<K: Key> {
    core: Core,
    key: Mutex<Option<Arc<K>>>,
}

impl<K: Key> Held for Operation<K> {
    fn core(&self) -> Core {
        self.core
    }
}

impl<K: Key> Operation<K> {
    fn new(core: Core, key: Option<Arc<K>>) -> Self {
        Self { core, key: Mutex::new(key) }
    }

    fn peek(&self) -> Option<Arc<K>> {
        self.key.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Errors: [`Reason::NoKey`].
    fn key(&self) -> Result<Arc<K>, Error> {
        self.peek().ok_or_else(|| Error::new(Reason::NoKey))
    }
}

unsafe extern "C" fn new<K: Key>(provctx: *mut c_void) -> *mut c_void {
    // SAFETY: OpenSSL gives our context.
    unsafe {
        on(provctx, Function::KemNew, |provider: &Provider| {
            Ok(door::Given(Box::new(Operation::<K>::new(provider.core(), None))))
        })
    }
}

unsafe extern "C" fn dup<K: Key>(ctx: *mut c_void) -> *mut c_void {
    // SAFETY: an operation of ours.
    unsafe {
        on(ctx, Function::KemDup, |operation: &Operation<K>| {
            Ok(door::Given(Box::new(Operation::<K>::new(operation.core, operation.peek()))))
        })
    }
}

unsafe extern "C" fn free<K: Key>(ctx: *mut c_void) {
    // SAFETY: an operation of ours, whose last use this is.
    let Some(operation) = (unsafe { handles::take_back::<Operation<K>>(ctx) }) else { return };
    guard(operation.core, Function::KemFree, || {
        drop(operation);
        Ok(Nothing)
    });
}

unsafe extern "C" fn encapsulate_init<K: Key>(ctx: *mut c_void, key: *mut c_void, _: *const OSSL_PARAM) -> c_int {
    // SAFETY: an operation and an object of ours.
    unsafe { init::<K>(Function::EncapsulateInit, ctx, key, |_| Ok(())) }
}

unsafe extern "C" fn decapsulate_init<K: Key>(ctx: *mut c_void, key: *mut c_void, _: *const OSSL_PARAM) -> c_int {
    let private = |key: &K| if key.has_secret() { Ok(()) } else { Err(Error::new(Reason::PublicOnly)) };
    // SAFETY: an operation and an object of ours.
    unsafe { init::<K>(Function::DecapsulateInit, ctx, key, private) }
}

/// # Safety
/// `ctx` must be NULL or an operation of ours, `key` NULL or an object of ours.
unsafe fn init<K: Key>(
    function: Function,
    ctx: *mut c_void,
    key: *mut c_void,
    require: impl FnOnce(&K) -> Result<(), Error>,
) -> c_int {
    // SAFETY: the caller's contract.
    unsafe {
        on(ctx, function, |operation: &Operation<K>| {
            let Some(object) = key.cast::<Object<K>>().as_ref() else {
                return Err(Error::new(Reason::NullArgument).with("the key is NULL"));
            };
            let key = object.key()?;
            require(key)?;
            *operation.key.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(key));
            Ok(Done)
        })
    }
}

unsafe extern "C" fn encapsulate<K: Key>(
    ctx: *mut c_void,
    out: *mut c_uchar,
    outlen: *mut usize,
    secret: *mut c_uchar,
    secretlen: *mut usize,
) -> c_int {
    // SAFETY: an operation of ours; by EVP_PKEY_encapsulate's documentation buffers of *outlen and *secretlen bytes, or NULL
    // for `out` to ask for the sizes, where one of the places may be NULL.
    unsafe {
        on(ctx, Function::Encapsulate, |operation: &Operation<K>| {
            let key = operation.key()?;
            if out.is_null() {
                if let Some(outlen) = outlen.as_mut() {
                    *outlen = K::CIPHERTEXT_BYTES;
                }
                if let Some(secretlen) = secretlen.as_mut() {
                    *secretlen = K::SHARED_SECRET_BYTES;
                }
                return Ok(Done);
            }
            let mut out = Output::borrow(out, outlen)?;
            let mut secret = Output::borrow(secret, secretlen)?;
            let ciphertext = out.room(K::CIPHERTEXT_BYTES)?;
            let shared = secret.room(K::SHARED_SECRET_BYTES)?;
            key.encapsulate(ciphertext, shared)?;
            out.set_size(K::CIPHERTEXT_BYTES);
            secret.set_size(K::SHARED_SECRET_BYTES);
            Ok(Done)
        })
    }
}

unsafe extern "C" fn decapsulate<K: Key>(
    ctx: *mut c_void,
    out: *mut c_uchar,
    outlen: *mut usize,
    input: *const c_uchar,
    inlen: usize,
) -> c_int {
    // SAFETY: an operation of ours, a buffer of *outlen bytes or NULL, and a ciphertext of inlen bytes.
    unsafe {
        on(ctx, Function::Decapsulate, |operation: &Operation<K>| {
            let key = operation.key()?;
            let mut out = Output::borrow(out, outlen)?;
            if !out.is_size_query() {
                let ciphertext = handles::bytes(input, inlen);
                require_length(c"ciphertext", K::CIPHERTEXT_BYTES, ciphertext)?;
                key.decapsulate(ciphertext, out.room(K::SHARED_SECRET_BYTES)?)?;
            }
            out.set_size(K::SHARED_SECRET_BYTES);
            Ok(Done)
        })
    }
}
