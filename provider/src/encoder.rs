//! ENCODER: keys as DER, PEM and text, in the formats that the engine has.
//!
//! Encrypted private keys are left to `openssl pkcs8 -topk8`, which asks for the plain form and encrypts it: a cipher that
//! is set here is refused, so that no key is written in the clear by mistake.

use std::ffi::{CStr, c_int, c_void};
use std::marker::PhantomData;

use zeroize::Zeroizing;

use crate::der::{self, Structure};
use crate::error::{Error, Function, Reason};
use crate::ffi::guard::{self as door, Done, Nothing, guard, on};
use crate::ffi::handles::{self, Held};
use crate::ffi::params::{Description, Given, LAST};
use crate::ffi::sys::{self, OSSL_CORE_BIO, OSSL_DISPATCH, OSSL_PARAM, OSSL_PASSPHRASE_CALLBACK, entry};
use crate::ffi::upcalls::Core;
use crate::key::{Key, Object, selects};
use crate::provider::Provider;

/// A form of output.
pub(crate) trait Form: 'static {
    /// The parts of a key that it can hold.
    const PARTS: c_int;
    /// Writes a key.
    fn write<K: Key>(key: &K, selection: c_int) -> Result<Zeroizing<Vec<u8>>, Error>;
}

/// DER.
pub(crate) struct Der<T>(PhantomData<T>);
/// PEM.
pub(crate) struct Pem<T>(PhantomData<T>);
/// Text for people.
pub(crate) struct Text;
/// PKCS#8.
pub(crate) struct Private;
/// SubjectPublicKeyInfo.
pub(crate) struct Public;

/// Which structure a form has.
pub(crate) trait Shape: 'static {
    const STRUCTURE: Structure;
    const PARTS: c_int;
}

impl Shape for Private {
    const STRUCTURE: Structure = Structure::PrivateKeyInfo;
    const PARTS: c_int = sys::OSSL_KEYMGMT_SELECT_KEYPAIR;
}

impl Shape for Public {
    const STRUCTURE: Structure = Structure::SubjectPublicKeyInfo;
    const PARTS: c_int = sys::OSSL_KEYMGMT_SELECT_PUBLIC_KEY;
}

impl<T: Shape> Form for Der<T> {
    const PARTS: c_int = T::PARTS;
    fn write<K: Key>(key: &K, _: c_int) -> Result<Zeroizing<Vec<u8>>, Error> {
        match T::STRUCTURE {
            Structure::PrivateKeyInfo => key.with_secret(|secret| T::STRUCTURE.encode(K::OID, secret)),
            Structure::SubjectPublicKeyInfo => Ok(T::STRUCTURE.encode(K::OID, key.public())),
        }
    }
}

impl<T: Shape> Form for Pem<T> {
    const PARTS: c_int = T::PARTS;
    fn write<K: Key>(key: &K, selection: c_int) -> Result<Zeroizing<Vec<u8>>, Error> {
        Ok(der::pem(T::STRUCTURE.label(), &Der::<T>::write(key, selection)?))
    }
}

impl Form for Text {
    const PARTS: c_int = sys::OSSL_KEYMGMT_SELECT_KEYPAIR;
    fn write<K: Key>(key: &K, selection: c_int) -> Result<Zeroizing<Vec<u8>>, Error> {
        let private = selects(selection, sys::OSSL_KEYMGMT_SELECT_PRIVATE_KEY);
        let kind = if private { "Private" } else { "Public" };
        let title = format!("{} {kind}-Key:\n", K::NAME.to_string_lossy());
        let secret = if private { key.with_secret(der::hexadecimal)? } else { Zeroizing::default() };
        let heading: &[u8] = if private { b"priv:\n" } else { b"" };
        let parts = [title.as_bytes(), heading, &secret, b"pub:\n", &der::hexadecimal(key.public())];
        Ok(Zeroizing::new(parts.concat()))
    }
}

/// The functions for a key type and a form.
pub(crate) struct Encoder<K: Key, F: Form>(PhantomData<(K, F)>);

impl<K: Key, F: Form> Encoder<K, F> {
    /// For C.
    pub(crate) const TABLE: &'static [OSSL_DISPATCH] = &[
        entry!(OSSL_FUNC_ENCODER_NEWCTX, encoder_newctx, new),
        entry!(OSSL_FUNC_ENCODER_FREECTX, encoder_freectx, free),
        entry!(OSSL_FUNC_ENCODER_SET_CTX_PARAMS, encoder_set_ctx_params, set_params),
        entry!(OSSL_FUNC_ENCODER_SETTABLE_CTX_PARAMS, encoder_settable_ctx_params, settable_params),
        entry!(OSSL_FUNC_ENCODER_DOES_SELECTION, encoder_does_selection, does_selection::<F>),
        entry!(OSSL_FUNC_ENCODER_ENCODE, encoder_encode, encode::<K, F>),
        sys::END,
    ];
}

/// The context of an encoder or a decoder: nothing but the core.
struct Coder(Core);

impl Held for Coder {
    fn core(&self) -> Core {
        self.0
    }
}

/// Makes the context of an encoder or a decoder.
pub(crate) unsafe extern "C" fn new(provctx: *mut c_void) -> *mut c_void {
    // SAFETY: OpenSSL gives our context.
    unsafe { on(provctx, Function::CoderNew, |provider: &Provider| Ok(door::Given(Box::new(Coder(provider.core()))))) }
}

/// Frees the context of an encoder or a decoder.
pub(crate) unsafe extern "C" fn free(ctx: *mut c_void) {
    // SAFETY: a context of ours, whose last use this is.
    let Some(coder) = (unsafe { handles::take_back::<Coder>(ctx) }) else { return };
    guard(coder.0, Function::CoderFree, || Ok(Nothing));
}

/// Runs the body of a callback with the core of an encoder or a decoder.
///
/// # Safety
/// `ctx` must be NULL or a context from [`new`].
pub(crate) unsafe fn with_core<R: door::Convention>(
    ctx: *mut c_void,
    function: Function,
    body: impl FnOnce(Core) -> Result<R, Error>,
) -> R::C {
    // SAFETY: the caller's contract.
    unsafe { on(ctx, function, |coder: &Coder| body(coder.0)) }
}

/// Whether a form that can hold `parts` is wanted: the most secret part of the selection decides. 0 is anything.
pub(crate) fn holds(parts: c_int, selection: c_int) -> c_int {
    let by_weight = [
        sys::OSSL_KEYMGMT_SELECT_PRIVATE_KEY,
        sys::OSSL_KEYMGMT_SELECT_PUBLIC_KEY,
        sys::OSSL_KEYMGMT_SELECT_ALL_PARAMETERS,
    ];
    let decisive = by_weight.into_iter().find(|&part| selects(selection, part));
    c_int::from(decisive.is_none_or(|part| selects(parts, part)))
}

unsafe extern "C" fn does_selection<F: Form>(_: *mut c_void, selection: c_int) -> c_int {
    holds(F::PARTS, selection)
}

const CIPHER: &CStr = c"cipher";

static SETTABLE: Description<2> = Description::new([(CIPHER, sys::OSSL_PARAM_UTF8_STRING), LAST]);

unsafe extern "C" fn settable_params(_: *mut c_void) -> *const OSSL_PARAM {
    SETTABLE.as_ptr()
}

unsafe extern "C" fn set_params(ctx: *mut c_void, params: *const OSSL_PARAM) -> c_int {
    // SAFETY: a context of ours, and parameters or NULL.
    unsafe {
        with_core(ctx, Function::EncoderSetParams, |_| match Given::new(params).text(CIPHER)? {
            Some(name) if !name.is_empty() => {
                let detail = "encrypting a key: write it plain and encrypt it with openssl pkcs8 -topk8";
                Err(Error::new(Reason::Unsupported).with(detail))
            }
            _ => Ok(Done),
        })
    }
}

unsafe extern "C" fn encode<K: Key, F: Form>(
    ctx: *mut c_void,
    out: *mut OSSL_CORE_BIO,
    key: *const c_void,
    abstract_key: *const OSSL_PARAM,
    selection: c_int,
    _: Option<OSSL_PASSPHRASE_CALLBACK>,
    _: *mut c_void,
) -> c_int {
    // SAFETY: a context and an object of ours, and a live BIO.
    unsafe {
        with_core(ctx, Function::Encode, |core| {
            let object = key.cast::<Object<K>>().as_ref().filter(|_| abstract_key.is_null());
            let Some(object) = object else {
                return Err(Error::new(Reason::Unsupported).with("a key of another provider"));
            };
            core.write_all(out, &F::write(object.key()?.as_ref(), selection)?)?;
            Ok(Done)
        })
    }
}
