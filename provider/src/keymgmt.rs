//! KEYMGMT: keys are made, filled, asked about, compared, imported, exported and freed.
//!
//! libssl's server makes an empty key ("parameters") for a client's share and fills it: only a selection of a key pair
//! generates one.

use std::ffi::{CStr, c_int, c_void};
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::error::{Error, Function, Reason};
use crate::ffi::guard::{self as door, Answer, Done, Nothing, guard, on};
use crate::ffi::handles::{self, Held};
use crate::ffi::params::{Asked, Description, Given, LAST, Value, array};
use crate::ffi::sys::{self, OSSL_CALLBACK, OSSL_DISPATCH, OSSL_PARAM, entry};
use crate::ffi::upcalls::Core;
use crate::key::{Key, Object, selects};
use crate::provider::Provider;

const PUB: &CStr = c"pub";
const PRIV: &CStr = c"priv";
/// The key share of TLS, which is the public key.
const ENCODED: &CStr = c"encoded-pub-key";
const GROUP: &CStr = c"group";

/// The functions for a key type.
pub(crate) struct Keymgmt<K: Key>(PhantomData<K>);

impl<K: Key> Keymgmt<K> {
    /// For C.
    pub(crate) const TABLE: &'static [OSSL_DISPATCH] = &[
        entry!(OSSL_FUNC_KEYMGMT_NEW, keymgmt_new, new::<K>),
        entry!(OSSL_FUNC_KEYMGMT_FREE, keymgmt_free, free::<K>),
        entry!(OSSL_FUNC_KEYMGMT_DUP, keymgmt_dup, dup::<K>),
        entry!(OSSL_FUNC_KEYMGMT_LOAD, keymgmt_load, load::<K>),
        entry!(OSSL_FUNC_KEYMGMT_GEN_INIT, keymgmt_gen_init, gen_init::<K>),
        entry!(OSSL_FUNC_KEYMGMT_GEN_SET_PARAMS, keymgmt_gen_set_params, gen_set_params::<K>),
        entry!(OSSL_FUNC_KEYMGMT_GEN_SETTABLE_PARAMS, keymgmt_gen_settable_params, gen_settable_params),
        entry!(OSSL_FUNC_KEYMGMT_GEN, keymgmt_gen, generate::<K>),
        entry!(OSSL_FUNC_KEYMGMT_GEN_CLEANUP, keymgmt_gen_cleanup, gen_cleanup::<K>),
        entry!(OSSL_FUNC_KEYMGMT_GET_PARAMS, keymgmt_get_params, get_params::<K>),
        entry!(OSSL_FUNC_KEYMGMT_GETTABLE_PARAMS, keymgmt_gettable_params, gettable_params),
        entry!(OSSL_FUNC_KEYMGMT_SET_PARAMS, keymgmt_set_params, set_params::<K>),
        entry!(OSSL_FUNC_KEYMGMT_SETTABLE_PARAMS, keymgmt_settable_params, settable_params),
        entry!(OSSL_FUNC_KEYMGMT_HAS, keymgmt_has, has::<K>),
        entry!(OSSL_FUNC_KEYMGMT_MATCH, keymgmt_match, matches::<K>),
        entry!(OSSL_FUNC_KEYMGMT_VALIDATE, keymgmt_validate, validate::<K>),
        // Each pair must be whole, or OpenSSL 3.0 drops the algorithm without a word.
        entry!(OSSL_FUNC_KEYMGMT_IMPORT, keymgmt_import, import::<K>),
        entry!(OSSL_FUNC_KEYMGMT_IMPORT_TYPES, keymgmt_import_types, key_types),
        entry!(OSSL_FUNC_KEYMGMT_EXPORT, keymgmt_export, export::<K>),
        entry!(OSSL_FUNC_KEYMGMT_EXPORT_TYPES, keymgmt_export_types, key_types),
        sys::END,
    ];
}

/// A key generation on its way.
struct Generation<K: Key> {
    core: Core,
    /// Whether a pair is wanted, or an empty object.
    pair: bool,
    kind: PhantomData<fn() -> K>,
}

impl<K: Key> Held for Generation<K> {
    fn core(&self) -> Core {
        self.core
    }
}

unsafe extern "C" fn new<K: Key>(provctx: *mut c_void) -> *mut c_void {
    // SAFETY: OpenSSL gives our context.
    unsafe {
        on(provctx, Function::KeyNew, |provider: &Provider| {
            Ok(door::Given(Box::new(Object::<K>::empty(provider.core()))))
        })
    }
}

unsafe extern "C" fn free<K: Key>(key: *mut c_void) {
    // SAFETY: an object of ours, whose last use this is.
    let Some(object) = (unsafe { handles::take_back::<Object<K>>(key) }) else { return };
    guard(object.core(), Function::KeyFree, || {
        drop(object);
        Ok(Nothing)
    });
}

unsafe extern "C" fn dup<K: Key>(key: *const c_void, selection: c_int) -> *mut c_void {
    // SAFETY: an object of ours.
    unsafe {
        on(key, Function::KeyDup, |object: &Object<K>| {
            let core = object.core();
            let copy = match object.peek() {
                Some(key) if selects(selection, sys::OSSL_KEYMGMT_SELECT_PRIVATE_KEY) => {
                    Object::of(core, Arc::clone(key))
                }
                Some(key) if selects(selection, sys::OSSL_KEYMGMT_SELECT_PUBLIC_KEY) => {
                    Object::of(core, K::from_public(key.public())?)
                }
                _ => Object::empty(core),
            };
            Ok(door::Given(Box::new(copy)))
        })
    }
}

/// Takes over the object that a decoder of ours made; the reference is the place of its address.
unsafe extern "C" fn load<K: Key>(reference: *const c_void, size: usize) -> *mut c_void {
    // SAFETY: OpenSSL hands on what the decoder gave, which looks afterwards whether the address was taken.
    let place = unsafe { reference.cast::<AtomicPtr<c_void>>().as_ref() };
    place
        .filter(|_| size == size_of::<*mut c_void>())
        .map_or(ptr::null_mut(), |place| place.swap(ptr::null_mut(), Ordering::AcqRel))
}

unsafe extern "C" fn gen_init<K: Key>(
    provctx: *mut c_void,
    selection: c_int,
    params: *const OSSL_PARAM,
) -> *mut c_void {
    // SAFETY: OpenSSL gives our context, and parameters or NULL.
    unsafe {
        on(provctx, Function::GenInit, |provider: &Provider| {
            require_group::<K>(Given::new(params))?;
            let pair = selects(selection, sys::OSSL_KEYMGMT_SELECT_KEYPAIR);
            Ok(door::Given(Box::new(Generation::<K> { core: provider.core(), pair, kind: PhantomData })))
        })
    }
}

unsafe extern "C" fn gen_set_params<K: Key>(generation: *mut c_void, params: *const OSSL_PARAM) -> c_int {
    // SAFETY: an object of ours, and parameters or NULL.
    unsafe {
        on(generation, Function::GenSetParams, |_: &Generation<K>| {
            require_group::<K>(Given::new(params))?;
            Ok(Done)
        })
    }
}

/// libssl names the group; it must be the one that the algorithm is for.
fn require_group<K: Key>(params: Given<'_>) -> Result<(), Error> {
    match params.text(GROUP)? {
        Some(name) if !name.eq_ignore_ascii_case(K::NAME.to_bytes()) => {
            let detail = format!("{} has no group {}", K::NAME.to_string_lossy(), String::from_utf8_lossy(name));
            Err(Error::new(Reason::WrongKeyType).with(detail))
        }
        _ => Ok(()),
    }
}

static GEN_SETTABLE: Description<2> = Description::new([(GROUP, sys::OSSL_PARAM_UTF8_STRING), LAST]);

unsafe extern "C" fn gen_settable_params(_: *mut c_void, _: *mut c_void) -> *const OSSL_PARAM {
    GEN_SETTABLE.as_ptr()
}

unsafe extern "C" fn generate<K: Key>(
    generation: *mut c_void,
    _: Option<OSSL_CALLBACK>,
    _: *mut c_void,
) -> *mut c_void {
    // SAFETY: an object of ours.
    unsafe {
        on(generation, Function::Gen, |generation: &Generation<K>| {
            let core = generation.core;
            let object = if generation.pair { Object::of(core, K::generate()?) } else { Object::<K>::empty(core) };
            Ok(door::Given(Box::new(object)))
        })
    }
}

unsafe extern "C" fn gen_cleanup<K: Key>(generation: *mut c_void) {
    // SAFETY: an object of ours, whose last use this is.
    let Some(generation) = (unsafe { handles::take_back::<Generation<K>>(generation) }) else { return };
    guard(generation.core, Function::GenCleanup, || Ok(Nothing));
}

static GETTABLE: Description<7> = Description::new([
    (c"bits", sys::OSSL_PARAM_INTEGER),
    (c"security-bits", sys::OSSL_PARAM_INTEGER),
    (c"max-size", sys::OSSL_PARAM_INTEGER),
    (ENCODED, sys::OSSL_PARAM_OCTET_STRING),
    (PUB, sys::OSSL_PARAM_OCTET_STRING),
    (PRIV, sys::OSSL_PARAM_OCTET_STRING),
    LAST,
]);

unsafe extern "C" fn gettable_params(_: *mut c_void) -> *const OSSL_PARAM {
    GETTABLE.as_ptr()
}

unsafe extern "C" fn get_params<K: Key>(key: *mut c_void, params: *mut OSSL_PARAM) -> c_int {
    // SAFETY: an object of ours, and an array to answer in.
    unsafe {
        on(key, Function::KeyGetParams, |object: &Object<K>| {
            let mut asked = Asked::new(params);
            asked.number(c"bits", as_u32(8 * K::PUBLIC_KEY_BYTES))?;
            asked.number(c"security-bits", K::SECURITY_BITS.into())?;
            // The largest output of an operation.
            asked.number(c"max-size", as_u32(K::CIPHERTEXT_BYTES))?;
            for name in [ENCODED, PUB] {
                if asked.wants(name) {
                    asked.octets(name, object.key()?.public())?;
                }
            }
            if asked.wants(PRIV) {
                object.key()?.with_secret(|secret| asked.octets(PRIV, secret))??;
            }
            Ok(Done)
        })
    }
}

fn as_u32(size: usize) -> u32 {
    u32::try_from(size).expect("sizes of keys and ciphertexts are small")
}

static SETTABLE: Description<2> = Description::new([(ENCODED, sys::OSSL_PARAM_OCTET_STRING), LAST]);

unsafe extern "C" fn settable_params(_: *mut c_void) -> *const OSSL_PARAM {
    SETTABLE.as_ptr()
}

unsafe extern "C" fn set_params<K: Key>(key: *mut c_void, params: *const OSSL_PARAM) -> c_int {
    // SAFETY: an object of ours, and parameters or NULL.
    unsafe {
        on(key, Function::KeySetParams, |object: &Object<K>| {
            if let Some(share) = Given::new(params).octets(ENCODED)? {
                object.fill(K::from_public(share)?)?;
            }
            Ok(Done)
        })
    }
}

unsafe extern "C" fn has<K: Key>(key: *const c_void, selection: c_int) -> c_int {
    // SAFETY: an object of ours, or NULL.
    unsafe {
        on(key, Function::KeyHas, |object: &Object<K>| {
            let wants_secret = selects(selection, sys::OSSL_KEYMGMT_SELECT_PRIVATE_KEY);
            Ok(Answer(match object.peek() {
                Some(key) => !wants_secret || key.has_secret(),
                None => !selects(selection, sys::OSSL_KEYMGMT_SELECT_KEYPAIR),
            }))
        })
    }
}

/// The public keys are compared: secret keys contain them. There are no parameters that could differ.
unsafe extern "C" fn matches<K: Key>(a: *const c_void, b: *const c_void, selection: c_int) -> c_int {
    // SAFETY: two objects of ours.
    unsafe {
        on(a, Function::KeyMatch, |a: &Object<K>| {
            let Some(b) = b.cast::<Object<K>>().as_ref() else { return Ok(Answer(false)) };
            if !selects(selection, sys::OSSL_KEYMGMT_SELECT_KEYPAIR) {
                return Ok(Answer(true));
            }
            Ok(Answer(matches!((a.peek(), b.peek()), (Some(a), Some(b)) if a.public() == b.public())))
        })
    }
}

unsafe extern "C" fn validate<K: Key>(key: *const c_void, selection: c_int, _: c_int) -> c_int {
    // SAFETY: an object of ours.
    unsafe {
        on(key, Function::KeyValidate, |object: &Object<K>| {
            if selects(selection, sys::OSSL_KEYMGMT_SELECT_PRIVATE_KEY) {
                object.key()?.check()?;
            } else if selects(selection, sys::OSSL_KEYMGMT_SELECT_PUBLIC_KEY) {
                // Every string of the right length is a public key.
                object.key()?;
            }
            Ok(Done)
        })
    }
}

unsafe extern "C" fn import<K: Key>(key: *mut c_void, selection: c_int, params: *const OSSL_PARAM) -> c_int {
    // SAFETY: an object of ours, and parameters.
    unsafe {
        on(key, Function::KeyImport, |object: &Object<K>| {
            let given = Given::new(params);
            let public = given.octets(PUB)?;
            let secret = given.octets(PRIV)?.filter(|_| selects(selection, sys::OSSL_KEYMGMT_SELECT_PRIVATE_KEY));
            let key = match (secret, public) {
                (Some(secret), public) => {
                    let key = K::from_secret(secret)?;
                    if public.is_some_and(|public| public != key.public()) {
                        return Err(Error::new(Reason::InconsistentKey));
                    }
                    key
                }
                (None, Some(public)) => K::from_public(public)?,
                (None, None) => return Err(Error::new(Reason::NoKey).with("neither pub nor priv is given")),
            };
            object.fill(key)?;
            Ok(Done)
        })
    }
}

static KEY_TYPES: Description<3> =
    Description::new([(PUB, sys::OSSL_PARAM_OCTET_STRING), (PRIV, sys::OSSL_PARAM_OCTET_STRING), LAST]);

unsafe extern "C" fn key_types(selection: c_int) -> *const OSSL_PARAM {
    if selects(selection, sys::OSSL_KEYMGMT_SELECT_KEYPAIR) { KEY_TYPES.as_ptr() } else { ptr::null() }
}

unsafe extern "C" fn export<K: Key>(
    key: *mut c_void,
    selection: c_int,
    callback: Option<OSSL_CALLBACK>,
    arg: *mut c_void,
) -> c_int {
    // SAFETY: an object of ours, and a function that takes `arg`.
    unsafe {
        on(key, Function::KeyExport, |object: &Object<K>| {
            let Some(tell) = callback else { return Err(Error::new(Reason::NullArgument)) };
            let key = object.key()?;
            let public = (PUB, Value::Octets(key.public()));
            let wants_public = selects(selection, sys::OSSL_KEYMGMT_SELECT_PUBLIC_KEY);
            // A public key is exported as such also where a pair was asked for.
            if !selects(selection, sys::OSSL_KEYMGMT_SELECT_PRIVATE_KEY) || (wants_public && !key.has_secret()) {
                return Ok(Answer(tell(array([public]).as_ptr(), arg) == 1));
            }
            key.with_secret(|secret| {
                let secret = (PRIV, Value::Octets(secret));
                Answer(tell(array([public, secret].into_iter().skip(usize::from(!wants_public))).as_ptr(), arg) == 1)
            })
        })
    }
}
