//! The provider interface as openssl/core.h and openssl/core_dispatch.h have it: numbers, structures, function types.
//!
//! OpenSSL keeps all of it from 3.0 on. The test `declarations` holds it to the headers of each series.

#![allow(non_camel_case_types, missing_docs)]

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_void};

// ---- openssl/core.h

/// Opaque: the core's side of a provider.
pub(crate) enum OSSL_CORE_HANDLE {}
/// Opaque: a BIO as the core hands it out.
pub(crate) enum OSSL_CORE_BIO {}

/// Any function; its number tells its type.
pub(crate) type AnyFn = unsafe extern "C" fn();

/// An entry of a table of functions, which ends with number 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct OSSL_DISPATCH {
    pub(crate) function_id: c_int,
    pub(crate) function: Option<AnyFn>,
}

/// A numbered item; a table of them ends with zeros.
#[repr(C)]
pub(crate) struct OSSL_ITEM {
    pub(crate) id: c_uint,
    pub(crate) ptr: *const c_void,
}

/// One implementation of an algorithm; a table of them ends with NULLs.
#[repr(C)]
pub(crate) struct OSSL_ALGORITHM {
    pub(crate) algorithm_names: *const c_char,
    pub(crate) property_definition: *const c_char,
    pub(crate) implementation: *const OSSL_DISPATCH,
    pub(crate) algorithm_description: *const c_char,
}

/// A named value on its way in or out; an array of them ends with a NULL key.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct OSSL_PARAM {
    pub(crate) key: *const c_char,
    pub(crate) data_type: c_uint,
    pub(crate) data: *mut c_void,
    pub(crate) data_size: usize,
    pub(crate) return_size: usize,
}

pub(crate) const OSSL_PARAM_INTEGER: c_uint = 1;
pub(crate) const OSSL_PARAM_UNSIGNED_INTEGER: c_uint = 2;
pub(crate) const OSSL_PARAM_UTF8_STRING: c_uint = 4;
pub(crate) const OSSL_PARAM_OCTET_STRING: c_uint = 5;
pub(crate) const OSSL_PARAM_UTF8_PTR: c_uint = 6;

pub(crate) type OSSL_CALLBACK = unsafe extern "C" fn(params: *const OSSL_PARAM, arg: *mut c_void) -> c_int;
/// Never called: no passphrase is asked for here.
pub(crate) type OSSL_PASSPHRASE_CALLBACK =
    unsafe extern "C" fn(*mut c_char, usize, *mut usize, *const OSSL_PARAM, *mut c_void) -> c_int;

// ---- openssl/core_object.h

pub(crate) const OSSL_OBJECT_PKEY: c_int = 2;

// ---- openssl/core_dispatch.h: what the core offers

pub(crate) const OSSL_FUNC_CORE_GET_PARAMS: c_int = 2;
pub(crate) const OSSL_FUNC_CORE_NEW_ERROR: c_int = 5;
pub(crate) const OSSL_FUNC_CORE_SET_ERROR_DEBUG: c_int = 6;
pub(crate) const OSSL_FUNC_CORE_VSET_ERROR: c_int = 7;
pub(crate) const OSSL_FUNC_CORE_OBJ_CREATE: c_int = 12;
pub(crate) const OSSL_FUNC_BIO_READ_EX: c_int = 42;
pub(crate) const OSSL_FUNC_BIO_WRITE_EX: c_int = 43;

pub(crate) type core_get_params = unsafe extern "C" fn(*const OSSL_CORE_HANDLE, *mut OSSL_PARAM) -> c_int;
pub(crate) type core_new_error = unsafe extern "C" fn(*const OSSL_CORE_HANDLE);
pub(crate) type core_set_error_debug =
    unsafe extern "C" fn(*const OSSL_CORE_HANDLE, file: *const c_char, line: c_int, func: *const c_char);
/// The last argument is a `va_list`, which is handed over as a pointer on the processors that are served.
pub(crate) type core_vset_error =
    unsafe extern "C" fn(*const OSSL_CORE_HANDLE, reason: u32, fmt: *const c_char, args: *mut c_void);
pub(crate) type core_obj_create =
    unsafe extern "C" fn(*const OSSL_CORE_HANDLE, oid: *const c_char, sn: *const c_char, ln: *const c_char) -> c_int;
pub(crate) type BIO_read_ex = unsafe extern "C" fn(*mut OSSL_CORE_BIO, *mut c_void, usize, *mut usize) -> c_int;
pub(crate) type BIO_write_ex = unsafe extern "C" fn(*mut OSSL_CORE_BIO, *const c_void, usize, *mut usize) -> c_int;

// ---- openssl/core_dispatch.h: the provider itself

pub(crate) const OSSL_FUNC_PROVIDER_TEARDOWN: c_int = 1024;
pub(crate) const OSSL_FUNC_PROVIDER_GETTABLE_PARAMS: c_int = 1025;
pub(crate) const OSSL_FUNC_PROVIDER_GET_PARAMS: c_int = 1026;
pub(crate) const OSSL_FUNC_PROVIDER_QUERY_OPERATION: c_int = 1027;
pub(crate) const OSSL_FUNC_PROVIDER_GET_REASON_STRINGS: c_int = 1029;
pub(crate) const OSSL_FUNC_PROVIDER_GET_CAPABILITIES: c_int = 1030;

pub(crate) const OSSL_OP_KEYMGMT: c_int = 10;
pub(crate) const OSSL_OP_KEM: c_int = 14;
pub(crate) const OSSL_OP_ENCODER: c_int = 20;
pub(crate) const OSSL_OP_DECODER: c_int = 21;

pub(crate) type provider_teardown = unsafe extern "C" fn(provctx: *mut c_void);
pub(crate) type provider_gettable_params = unsafe extern "C" fn(provctx: *mut c_void) -> *const OSSL_PARAM;
pub(crate) type provider_get_params = unsafe extern "C" fn(provctx: *mut c_void, params: *mut OSSL_PARAM) -> c_int;
pub(crate) type provider_query_operation =
    unsafe extern "C" fn(provctx: *mut c_void, operation_id: c_int, no_cache: *mut c_int) -> *const OSSL_ALGORITHM;
pub(crate) type provider_get_reason_strings = unsafe extern "C" fn(provctx: *mut c_void) -> *const OSSL_ITEM;
pub(crate) type provider_get_capabilities = unsafe extern "C" fn(
    provctx: *mut c_void,
    capability: *const c_char,
    cb: Option<OSSL_CALLBACK>,
    arg: *mut c_void,
) -> c_int;

// ---- openssl/core_dispatch.h: KEYMGMT

pub(crate) const OSSL_KEYMGMT_SELECT_PRIVATE_KEY: c_int = 0x01;
pub(crate) const OSSL_KEYMGMT_SELECT_PUBLIC_KEY: c_int = 0x02;
pub(crate) const OSSL_KEYMGMT_SELECT_KEYPAIR: c_int = 0x03;
pub(crate) const OSSL_KEYMGMT_SELECT_ALL_PARAMETERS: c_int = 0x84;

pub(crate) const OSSL_FUNC_KEYMGMT_NEW: c_int = 1;
pub(crate) const OSSL_FUNC_KEYMGMT_GEN_INIT: c_int = 2;
pub(crate) const OSSL_FUNC_KEYMGMT_GEN_SET_PARAMS: c_int = 4;
pub(crate) const OSSL_FUNC_KEYMGMT_GEN_SETTABLE_PARAMS: c_int = 5;
pub(crate) const OSSL_FUNC_KEYMGMT_GEN: c_int = 6;
pub(crate) const OSSL_FUNC_KEYMGMT_GEN_CLEANUP: c_int = 7;
pub(crate) const OSSL_FUNC_KEYMGMT_LOAD: c_int = 8;
pub(crate) const OSSL_FUNC_KEYMGMT_FREE: c_int = 10;
pub(crate) const OSSL_FUNC_KEYMGMT_GET_PARAMS: c_int = 11;
pub(crate) const OSSL_FUNC_KEYMGMT_GETTABLE_PARAMS: c_int = 12;
pub(crate) const OSSL_FUNC_KEYMGMT_SET_PARAMS: c_int = 13;
pub(crate) const OSSL_FUNC_KEYMGMT_SETTABLE_PARAMS: c_int = 14;
pub(crate) const OSSL_FUNC_KEYMGMT_HAS: c_int = 21;
pub(crate) const OSSL_FUNC_KEYMGMT_VALIDATE: c_int = 22;
pub(crate) const OSSL_FUNC_KEYMGMT_MATCH: c_int = 23;
pub(crate) const OSSL_FUNC_KEYMGMT_IMPORT: c_int = 40;
pub(crate) const OSSL_FUNC_KEYMGMT_IMPORT_TYPES: c_int = 41;
pub(crate) const OSSL_FUNC_KEYMGMT_EXPORT: c_int = 42;
pub(crate) const OSSL_FUNC_KEYMGMT_EXPORT_TYPES: c_int = 43;
pub(crate) const OSSL_FUNC_KEYMGMT_DUP: c_int = 44;

pub(crate) type keymgmt_new = unsafe extern "C" fn(provctx: *mut c_void) -> *mut c_void;
pub(crate) type keymgmt_gen_init =
    unsafe extern "C" fn(provctx: *mut c_void, selection: c_int, params: *const OSSL_PARAM) -> *mut c_void;
pub(crate) type keymgmt_gen_set_params = unsafe extern "C" fn(genctx: *mut c_void, params: *const OSSL_PARAM) -> c_int;
pub(crate) type keymgmt_gen_settable_params =
    unsafe extern "C" fn(genctx: *mut c_void, provctx: *mut c_void) -> *const OSSL_PARAM;
pub(crate) type keymgmt_gen =
    unsafe extern "C" fn(genctx: *mut c_void, cb: Option<OSSL_CALLBACK>, cbarg: *mut c_void) -> *mut c_void;
pub(crate) type keymgmt_gen_cleanup = unsafe extern "C" fn(genctx: *mut c_void);
pub(crate) type keymgmt_load = unsafe extern "C" fn(reference: *const c_void, reference_sz: usize) -> *mut c_void;
pub(crate) type keymgmt_free = unsafe extern "C" fn(keydata: *mut c_void);
pub(crate) type keymgmt_get_params = unsafe extern "C" fn(keydata: *mut c_void, params: *mut OSSL_PARAM) -> c_int;
pub(crate) type keymgmt_gettable_params = unsafe extern "C" fn(provctx: *mut c_void) -> *const OSSL_PARAM;
pub(crate) type keymgmt_set_params = unsafe extern "C" fn(keydata: *mut c_void, params: *const OSSL_PARAM) -> c_int;
pub(crate) type keymgmt_settable_params = unsafe extern "C" fn(provctx: *mut c_void) -> *const OSSL_PARAM;
pub(crate) type keymgmt_has = unsafe extern "C" fn(keydata: *const c_void, selection: c_int) -> c_int;
pub(crate) type keymgmt_validate =
    unsafe extern "C" fn(keydata: *const c_void, selection: c_int, checktype: c_int) -> c_int;
pub(crate) type keymgmt_match =
    unsafe extern "C" fn(keydata1: *const c_void, keydata2: *const c_void, selection: c_int) -> c_int;
pub(crate) type keymgmt_import =
    unsafe extern "C" fn(keydata: *mut c_void, selection: c_int, params: *const OSSL_PARAM) -> c_int;
pub(crate) type keymgmt_import_types = unsafe extern "C" fn(selection: c_int) -> *const OSSL_PARAM;
pub(crate) type keymgmt_export = unsafe extern "C" fn(
    keydata: *mut c_void,
    selection: c_int,
    param_cb: Option<OSSL_CALLBACK>,
    cbarg: *mut c_void,
) -> c_int;
pub(crate) type keymgmt_export_types = unsafe extern "C" fn(selection: c_int) -> *const OSSL_PARAM;
pub(crate) type keymgmt_dup = unsafe extern "C" fn(keydata_from: *const c_void, selection: c_int) -> *mut c_void;

// ---- openssl/core_dispatch.h: KEM

pub(crate) const OSSL_FUNC_KEM_NEWCTX: c_int = 1;
pub(crate) const OSSL_FUNC_KEM_ENCAPSULATE_INIT: c_int = 2;
pub(crate) const OSSL_FUNC_KEM_ENCAPSULATE: c_int = 3;
pub(crate) const OSSL_FUNC_KEM_DECAPSULATE_INIT: c_int = 4;
pub(crate) const OSSL_FUNC_KEM_DECAPSULATE: c_int = 5;
pub(crate) const OSSL_FUNC_KEM_FREECTX: c_int = 6;
pub(crate) const OSSL_FUNC_KEM_DUPCTX: c_int = 7;

pub(crate) type kem_newctx = unsafe extern "C" fn(provctx: *mut c_void) -> *mut c_void;
pub(crate) type kem_encapsulate_init =
    unsafe extern "C" fn(ctx: *mut c_void, provkey: *mut c_void, params: *const OSSL_PARAM) -> c_int;
pub(crate) type kem_encapsulate = unsafe extern "C" fn(
    ctx: *mut c_void,
    out: *mut c_uchar,
    outlen: *mut usize,
    secret: *mut c_uchar,
    secretlen: *mut usize,
) -> c_int;
pub(crate) type kem_decapsulate_init =
    unsafe extern "C" fn(ctx: *mut c_void, provkey: *mut c_void, params: *const OSSL_PARAM) -> c_int;
pub(crate) type kem_decapsulate = unsafe extern "C" fn(
    ctx: *mut c_void,
    out: *mut c_uchar,
    outlen: *mut usize,
    input: *const c_uchar,
    inlen: usize,
) -> c_int;
pub(crate) type kem_freectx = unsafe extern "C" fn(ctx: *mut c_void);
pub(crate) type kem_dupctx = unsafe extern "C" fn(ctx: *mut c_void) -> *mut c_void;

// ---- openssl/core_dispatch.h: ENCODER and DECODER

pub(crate) const OSSL_FUNC_ENCODER_NEWCTX: c_int = 1;
pub(crate) const OSSL_FUNC_ENCODER_FREECTX: c_int = 2;
pub(crate) const OSSL_FUNC_ENCODER_SET_CTX_PARAMS: c_int = 5;
pub(crate) const OSSL_FUNC_ENCODER_SETTABLE_CTX_PARAMS: c_int = 6;
pub(crate) const OSSL_FUNC_ENCODER_DOES_SELECTION: c_int = 10;
pub(crate) const OSSL_FUNC_ENCODER_ENCODE: c_int = 11;

pub(crate) type encoder_newctx = unsafe extern "C" fn(provctx: *mut c_void) -> *mut c_void;
pub(crate) type encoder_freectx = unsafe extern "C" fn(ctx: *mut c_void);
pub(crate) type encoder_set_ctx_params = unsafe extern "C" fn(ctx: *mut c_void, params: *const OSSL_PARAM) -> c_int;
pub(crate) type encoder_settable_ctx_params = unsafe extern "C" fn(provctx: *mut c_void) -> *const OSSL_PARAM;
pub(crate) type encoder_does_selection = unsafe extern "C" fn(provctx: *mut c_void, selection: c_int) -> c_int;
pub(crate) type encoder_encode = unsafe extern "C" fn(
    ctx: *mut c_void,
    out: *mut OSSL_CORE_BIO,
    obj_raw: *const c_void,
    obj_abstract: *const OSSL_PARAM,
    selection: c_int,
    cb: Option<OSSL_PASSPHRASE_CALLBACK>,
    cbarg: *mut c_void,
) -> c_int;

pub(crate) const OSSL_FUNC_DECODER_NEWCTX: c_int = 1;
pub(crate) const OSSL_FUNC_DECODER_FREECTX: c_int = 2;
pub(crate) const OSSL_FUNC_DECODER_DOES_SELECTION: c_int = 10;
pub(crate) const OSSL_FUNC_DECODER_DECODE: c_int = 11;

pub(crate) type decoder_newctx = unsafe extern "C" fn(provctx: *mut c_void) -> *mut c_void;
pub(crate) type decoder_freectx = unsafe extern "C" fn(ctx: *mut c_void);
pub(crate) type decoder_does_selection = unsafe extern "C" fn(provctx: *mut c_void, selection: c_int) -> c_int;
pub(crate) type decoder_decode = unsafe extern "C" fn(
    ctx: *mut c_void,
    input: *mut OSSL_CORE_BIO,
    selection: c_int,
    data_cb: Option<OSSL_CALLBACK>,
    data_cbarg: *mut c_void,
    pw_cb: Option<OSSL_PASSPHRASE_CALLBACK>,
    pw_cbarg: *mut c_void,
) -> c_int;

/// An entry of a table of functions: the number, the type that goes with it, the function.
macro_rules! entry {
    ($number:ident, $type:ident, $function:expr) => {
        $crate::ffi::sys::OSSL_DISPATCH {
            function_id: $crate::ffi::sys::$number,
            // SAFETY: C casts it back to the type that goes with the number; function pointers are of one size.
            function: Some(unsafe {
                ::std::mem::transmute::<$crate::ffi::sys::$type, $crate::ffi::sys::AnyFn>($function)
            }),
        }
    };
}
pub(crate) use entry;

/// The end of a table of functions.
pub(crate) const END: OSSL_DISPATCH = OSSL_DISPATCH { function_id: 0, function: None };
