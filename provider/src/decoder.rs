//! DECODER: keys from DER. OpenSSL's own decoders turn PEM, encrypted PKCS#8 and files into that.

use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::sync::atomic::AtomicPtr;

use zeroize::Zeroizing;

use crate::der::{self, Header, Structure};
use crate::encoder::{self, Shape};
use crate::error::{Error, Function, Reason};
use crate::ffi::guard::{Answer, Convention, Given};
use crate::ffi::handles;
use crate::ffi::params::{Value, array};
use crate::ffi::sys::{self, OSSL_CALLBACK, OSSL_CORE_BIO, OSSL_DISPATCH, OSSL_PASSPHRASE_CALLBACK, entry};
use crate::ffi::upcalls::Core;
use crate::key::{Key, Object};

/// The functions for a key type and a structure.
pub(crate) struct Decoder<K: Key, T: Shape>(PhantomData<(K, T)>);

impl<K: Key, T: Shape> Decoder<K, T> {
    /// For C.
    pub(crate) const TABLE: &'static [OSSL_DISPATCH] = &[
        entry!(OSSL_FUNC_DECODER_NEWCTX, decoder_newctx, encoder::new),
        entry!(OSSL_FUNC_DECODER_FREECTX, decoder_freectx, encoder::free),
        entry!(OSSL_FUNC_DECODER_DOES_SELECTION, decoder_does_selection, does_selection::<T>),
        entry!(OSSL_FUNC_DECODER_DECODE, decoder_decode, decode::<K, T>),
        sys::END,
    ];
}

unsafe extern "C" fn does_selection<T: Shape>(_: *mut c_void, selection: c_int) -> c_int {
    encoder::holds(T::PARTS, selection)
}

/// What is no key of this type is no error: OpenSSL asks one decoder after the other.
unsafe extern "C" fn decode<K: Key, T: Shape>(
    ctx: *mut c_void,
    input: *mut OSSL_CORE_BIO,
    _: c_int,
    callback: Option<OSSL_CALLBACK>,
    arg: *mut c_void,
    _: Option<OSSL_PASSPHRASE_CALLBACK>,
    _: *mut c_void,
) -> c_int {
    // SAFETY: a context of ours, a live BIO, and a function that takes `arg`.
    unsafe {
        encoder::with_core(ctx, Function::Decode, |core| {
            let Some(tell) = callback else { return Err(Error::new(Reason::NullArgument)) };
            let Some(der) = read_element(core, input) else { return Ok(Answer(true)) };
            let Some(key) = T::STRUCTURE.decode(K::OID, &der)? else { return Ok(Answer(true)) };
            let key = match T::STRUCTURE {
                Structure::PrivateKeyInfo => K::from_secret(key)?,
                Structure::SubjectPublicKeyInfo => K::from_public(key)?,
            };
            Ok(Answer(hand_over(core, key, tell, arg)))
        })
    }
}

/// Gives the key to whoever asked for it, by a reference from which KEYMGMT's `load` takes it.
///
/// # Safety
/// `tell` may be called with `arg`.
unsafe fn hand_over<K: Key>(core: Core, key: K, tell: OSSL_CALLBACK, arg: *mut c_void) -> bool {
    let place = AtomicPtr::new(Given(Box::new(Object::of(core, key))).into_c());
    let params = array([
        (c"type", Value::Int(&sys::OSSL_OBJECT_PKEY)),
        (c"data-type", Value::Utf8(K::NAME)),
        (c"reference", Value::Place(&place)),
    ]);
    // SAFETY: the caller's contract; the array lives through the call. What nobody took is freed.
    unsafe {
        let taken = tell(params.as_ptr(), arg) == 1;
        drop(handles::take_back::<Object<K>>(place.into_inner()));
        taken
    }
}

/// One element of DER, and not a byte more; `None` if there is none.
///
/// # Safety
/// `input` must be a live BIO of this core.
unsafe fn read_element(core: Core, input: *mut OSSL_CORE_BIO) -> Option<Zeroizing<Vec<u8>>> {
    let mut start = [0; 4];
    let mut known = 0;
    let content = loop {
        match der::header(&start[..known]) {
            Header::More(more) => {
                // SAFETY: the caller's contract.
                if !unsafe { core.read_exact(input, start.get_mut(known..known + more)?) } {
                    return None;
                }
                known += more;
            }
            Header::Content(length) => break length,
            Header::Wrong => return None,
        }
    };
    if content > der::LONGEST {
        return None;
    }
    let mut der = Zeroizing::new(vec![0; known + content]);
    der[..known].copy_from_slice(&start[..known]);
    // SAFETY: the caller's contract.
    unsafe { core.read_exact(input, &mut der[known..]) }.then_some(der)
}
