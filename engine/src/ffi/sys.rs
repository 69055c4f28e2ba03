//! What the engine uses of libcrypto: openssl-sys where it has it, and declared here, header by header, where it lacks it.
//!
//! The test `layout` holds every structure, constant and function type of this file to the headers of each OpenSSL series.

#![allow(non_camel_case_types, missing_docs)]

use std::ffi::{c_char, c_int, c_long, c_uchar, c_uint, c_ulong, c_void};

#[cfg(openssl1)]
pub(crate) use openssl_sys::ERR_put_error;
pub(crate) use openssl_sys::{
    ASN1_OBJECT, BIO, BIO_write, CRYPTO_malloc, ENGINE, ERR_PACK, ERR_STRING_DATA, ERR_get_next_error_library,
    ERR_load_strings, EVP_PKEY, EVP_PKEY_CTX, EVP_PKEY_assign, EVP_PKEY_id, OBJ_create, OBJ_nid2obj, OBJ_obj2txt,
    OBJ_sn2nid, OpenSSL_version_num, PKCS8_PRIV_KEY_INFO, RAND_priv_bytes, X509_ALGOR, X509_ALGOR_get0,
};
#[cfg(openssl3)]
pub(crate) use openssl_sys::{ERR_new, ERR_set_debug, ERR_set_error};

// ---- openssl/asn1.h

pub(crate) const V_ASN1_UNDEF: c_int = -1;

/// Opaque: options of the printing functions, of which the engine uses none.
pub(crate) enum ASN1_PCTX {}

unsafe extern "C" {
    pub(crate) fn ASN1_buf_print(bio: *mut BIO, buf: *const c_uchar, len: usize, indent: c_int) -> c_int;
}

// ---- openssl/bio.h

unsafe extern "C" {
    pub(crate) fn BIO_indent(bio: *mut BIO, indent: c_int, max: c_int) -> c_int;
}

// ---- openssl/crypto.h

unsafe extern "C" {
    pub(crate) fn CRYPTO_clear_free(ptr: *mut c_void, len: usize, file: *const c_char, line: c_int);
}

// ---- openssl/engine.h

pub(crate) const OSSL_DYNAMIC_VERSION: c_ulong = 0x0003_0000;
pub(crate) const OSSL_DYNAMIC_OLDEST: c_ulong = 0x0003_0000;
pub(crate) const ENGINE_CMD_BASE: c_uint = 200;
pub(crate) const ENGINE_CMD_FLAG_NUMERIC: c_uint = 1;
pub(crate) const ENGINE_CMD_FLAG_STRING: c_uint = 2;
pub(crate) const ENGINE_CMD_FLAG_NO_INPUT: c_uint = 4;

/// One control command; a table of them ends with an entry of zeros.
#[repr(C)]
pub(crate) struct ENGINE_CMD_DEFN {
    pub(crate) cmd_num: c_uint,
    pub(crate) cmd_name: *const c_char,
    pub(crate) cmd_desc: *const c_char,
    pub(crate) cmd_flags: c_uint,
}

/// The memory functions of the program's libcrypto, given to the bind function.
#[repr(C)]
pub(crate) struct dynamic_MEM_fns {
    pub(crate) malloc_fn: Option<unsafe extern "C" fn(usize, *const c_char, c_int) -> *mut c_void>,
    pub(crate) realloc_fn: Option<unsafe extern "C" fn(*mut c_void, usize, *const c_char, c_int) -> *mut c_void>,
    pub(crate) free_fn: Option<unsafe extern "C" fn(*mut c_void, *const c_char, c_int)>,
}

/// What the loader tells the bind function about the program's libcrypto.
#[repr(C)]
pub(crate) struct dynamic_fns {
    pub(crate) static_state: *mut c_void,
    pub(crate) mem_fns: dynamic_MEM_fns,
}

pub(crate) type EngineFn = unsafe extern "C" fn(e: *mut ENGINE) -> c_int;
pub(crate) type EngineCtrlFn = unsafe extern "C" fn(
    e: *mut ENGINE,
    cmd: c_int,
    i: c_long,
    p: *mut c_void,
    f: Option<unsafe extern "C" fn()>,
) -> c_int;
pub(crate) type PkeyMethsFn =
    unsafe extern "C" fn(e: *mut ENGINE, out: *mut *mut EVP_PKEY_METHOD, nids: *mut *const c_int, nid: c_int) -> c_int;
pub(crate) type PkeyAsn1MethsFn = unsafe extern "C" fn(
    e: *mut ENGINE,
    out: *mut *mut EVP_PKEY_ASN1_METHOD,
    nids: *mut *const c_int,
    nid: c_int,
) -> c_int;

unsafe extern "C" {
    pub(crate) fn ENGINE_get_static_state() -> *mut c_void;
    pub(crate) fn ENGINE_set_id(e: *mut ENGINE, id: *const c_char) -> c_int;
    pub(crate) fn ENGINE_set_name(e: *mut ENGINE, name: *const c_char) -> c_int;
    pub(crate) fn ENGINE_set_init_function(e: *mut ENGINE, f: EngineFn) -> c_int;
    pub(crate) fn ENGINE_set_finish_function(e: *mut ENGINE, f: EngineFn) -> c_int;
    pub(crate) fn ENGINE_set_destroy_function(e: *mut ENGINE, f: EngineFn) -> c_int;
    pub(crate) fn ENGINE_set_ctrl_function(e: *mut ENGINE, f: EngineCtrlFn) -> c_int;
    pub(crate) fn ENGINE_set_cmd_defns(e: *mut ENGINE, defns: *const ENGINE_CMD_DEFN) -> c_int;
    pub(crate) fn ENGINE_set_pkey_meths(e: *mut ENGINE, f: PkeyMethsFn) -> c_int;
    pub(crate) fn ENGINE_set_pkey_asn1_meths(e: *mut ENGINE, f: PkeyAsn1MethsFn) -> c_int;
}

// ---- openssl/err.h

unsafe extern "C" {
    pub(crate) fn ERR_add_error_data(count: c_int, ...);
    pub(crate) fn ERR_unload_strings(lib: c_int, strings: *mut ERR_STRING_DATA) -> c_int;
}

// ---- openssl/evp.h

pub(crate) const EVP_PKEY_CTRL_PEER_KEY: c_int = 2;
pub(crate) const ASN1_PKEY_CTRL_SET1_TLS_ENCPT: c_int = 9;
pub(crate) const ASN1_PKEY_CTRL_GET1_TLS_ENCPT: c_int = 10;

/// Opaque: the operations of a key type.
pub(crate) enum EVP_PKEY_METHOD {}
/// Opaque: the encodings of a key type.
pub(crate) enum EVP_PKEY_ASN1_METHOD {}

pub(crate) type CtxFn = unsafe extern "C" fn(ctx: *mut EVP_PKEY_CTX) -> c_int;
pub(crate) type CtxCopyFn = unsafe extern "C" fn(dst: *mut EVP_PKEY_CTX, src: *const EVP_PKEY_CTX) -> c_int;
pub(crate) type KeygenFn = unsafe extern "C" fn(ctx: *mut EVP_PKEY_CTX, pkey: *mut EVP_PKEY) -> c_int;
pub(crate) type CryptFn = unsafe extern "C" fn(
    ctx: *mut EVP_PKEY_CTX,
    out: *mut c_uchar,
    outlen: *mut usize,
    input: *const c_uchar,
    inlen: usize,
) -> c_int;
pub(crate) type DeriveFn = unsafe extern "C" fn(ctx: *mut EVP_PKEY_CTX, key: *mut c_uchar, keylen: *mut usize) -> c_int;
pub(crate) type CtxCtrlFn =
    unsafe extern "C" fn(ctx: *mut EVP_PKEY_CTX, kind: c_int, p1: c_int, p2: *mut c_void) -> c_int;
pub(crate) type CtxCtrlStrFn =
    unsafe extern "C" fn(ctx: *mut EVP_PKEY_CTX, kind: *const c_char, value: *const c_char) -> c_int;

pub(crate) type PubDecodeFn = unsafe extern "C" fn(pkey: *mut EVP_PKEY, public: *const X509_PUBKEY) -> c_int;
pub(crate) type PubEncodeFn = unsafe extern "C" fn(public: *mut X509_PUBKEY, pkey: *const EVP_PKEY) -> c_int;
pub(crate) type CompareFn = unsafe extern "C" fn(a: *const EVP_PKEY, b: *const EVP_PKEY) -> c_int;
pub(crate) type PrintFn =
    unsafe extern "C" fn(out: *mut BIO, pkey: *const EVP_PKEY, indent: c_int, options: *mut ASN1_PCTX) -> c_int;
pub(crate) type NumberFn = unsafe extern "C" fn(pkey: *const EVP_PKEY) -> c_int;
pub(crate) type PrivDecodeFn = unsafe extern "C" fn(pkey: *mut EVP_PKEY, p8: *const PKCS8_PRIV_KEY_INFO) -> c_int;
pub(crate) type PrivEncodeFn = unsafe extern "C" fn(p8: *mut PKCS8_PRIV_KEY_INFO, pkey: *const EVP_PKEY) -> c_int;
pub(crate) type ParamDecodeFn =
    unsafe extern "C" fn(pkey: *mut EVP_PKEY, der: *mut *const c_uchar, len: c_int) -> c_int;
pub(crate) type ParamEncodeFn = unsafe extern "C" fn(pkey: *const EVP_PKEY, der: *mut *mut c_uchar) -> c_int;
pub(crate) type ParamCopyFn = unsafe extern "C" fn(to: *mut EVP_PKEY, from: *const EVP_PKEY) -> c_int;
pub(crate) type FreeFn = unsafe extern "C" fn(pkey: *mut EVP_PKEY);
pub(crate) type PkeyCtrlFn =
    unsafe extern "C" fn(pkey: *mut EVP_PKEY, op: c_int, arg1: c_long, arg2: *mut c_void) -> c_int;
pub(crate) type SetRawFn = unsafe extern "C" fn(pkey: *mut EVP_PKEY, bytes: *const c_uchar, len: usize) -> c_int;
pub(crate) type GetRawFn = unsafe extern "C" fn(pkey: *const EVP_PKEY, bytes: *mut c_uchar, len: *mut usize) -> c_int;

unsafe extern "C" {
    pub(crate) fn EVP_PKEY_get0(pkey: *const EVP_PKEY) -> *mut c_void;
    pub(crate) fn EVP_PKEY_get0_asn1(pkey: *const EVP_PKEY) -> *const EVP_PKEY_ASN1_METHOD;
    pub(crate) fn EVP_PKEY_CTX_get0_pkey(ctx: *mut EVP_PKEY_CTX) -> *mut EVP_PKEY;

    pub(crate) fn EVP_PKEY_meth_new(id: c_int, flags: c_int) -> *mut EVP_PKEY_METHOD;
    pub(crate) fn EVP_PKEY_meth_free(method: *mut EVP_PKEY_METHOD);
    pub(crate) fn EVP_PKEY_meth_set_copy(method: *mut EVP_PKEY_METHOD, copy: CtxCopyFn);
    pub(crate) fn EVP_PKEY_meth_set_keygen(method: *mut EVP_PKEY_METHOD, init: Option<CtxFn>, keygen: KeygenFn);
    pub(crate) fn EVP_PKEY_meth_set_encrypt(method: *mut EVP_PKEY_METHOD, init: Option<CtxFn>, encrypt: CryptFn);
    pub(crate) fn EVP_PKEY_meth_set_decrypt(method: *mut EVP_PKEY_METHOD, init: Option<CtxFn>, decrypt: CryptFn);
    pub(crate) fn EVP_PKEY_meth_set_derive(method: *mut EVP_PKEY_METHOD, init: Option<CtxFn>, derive: DeriveFn);
    pub(crate) fn EVP_PKEY_meth_set_ctrl(method: *mut EVP_PKEY_METHOD, ctrl: CtxCtrlFn, text: Option<CtxCtrlStrFn>);

    pub(crate) fn EVP_PKEY_asn1_new(
        id: c_int,
        flags: c_int,
        pem: *const c_char,
        info: *const c_char,
    ) -> *mut EVP_PKEY_ASN1_METHOD;
    pub(crate) fn EVP_PKEY_asn1_free(method: *mut EVP_PKEY_ASN1_METHOD);
    pub(crate) fn EVP_PKEY_asn1_set_public(
        method: *mut EVP_PKEY_ASN1_METHOD,
        decode: PubDecodeFn,
        encode: PubEncodeFn,
        compare: CompareFn,
        print: PrintFn,
        size: NumberFn,
        bits: NumberFn,
    );
    pub(crate) fn EVP_PKEY_asn1_set_private(
        method: *mut EVP_PKEY_ASN1_METHOD,
        decode: PrivDecodeFn,
        encode: PrivEncodeFn,
        print: PrintFn,
    );
    pub(crate) fn EVP_PKEY_asn1_set_param(
        method: *mut EVP_PKEY_ASN1_METHOD,
        decode: Option<ParamDecodeFn>,
        encode: Option<ParamEncodeFn>,
        missing: Option<NumberFn>,
        copy: Option<ParamCopyFn>,
        compare: Option<CompareFn>,
        print: Option<PrintFn>,
    );
    pub(crate) fn EVP_PKEY_asn1_set_free(method: *mut EVP_PKEY_ASN1_METHOD, free: FreeFn);
    pub(crate) fn EVP_PKEY_asn1_set_ctrl(method: *mut EVP_PKEY_ASN1_METHOD, ctrl: PkeyCtrlFn);
    pub(crate) fn EVP_PKEY_asn1_set_security_bits(method: *mut EVP_PKEY_ASN1_METHOD, bits: NumberFn);
    pub(crate) fn EVP_PKEY_asn1_set_set_priv_key(method: *mut EVP_PKEY_ASN1_METHOD, set: SetRawFn);
    pub(crate) fn EVP_PKEY_asn1_set_set_pub_key(method: *mut EVP_PKEY_ASN1_METHOD, set: SetRawFn);
    pub(crate) fn EVP_PKEY_asn1_set_get_priv_key(method: *mut EVP_PKEY_ASN1_METHOD, get: GetRawFn);
    pub(crate) fn EVP_PKEY_asn1_set_get_pub_key(method: *mut EVP_PKEY_ASN1_METHOD, get: GetRawFn);
}

// ---- openssl/x509.h

/// Opaque: SubjectPublicKeyInfo.
pub(crate) enum X509_PUBKEY {}

unsafe extern "C" {
    pub(crate) fn X509_PUBKEY_set0_param(
        public: *mut X509_PUBKEY,
        object: *mut ASN1_OBJECT,
        parameter_type: c_int,
        parameter: *mut c_void,
        encoding: *mut c_uchar,
        len: c_int,
    ) -> c_int;
    pub(crate) fn X509_PUBKEY_get0_param(
        object: *mut *mut ASN1_OBJECT,
        encoding: *mut *const c_uchar,
        len: *mut c_int,
        algorithm: *mut *mut X509_ALGOR,
        public: *const X509_PUBKEY,
    ) -> c_int;
    pub(crate) fn PKCS8_pkey_set0(
        p8: *mut PKCS8_PRIV_KEY_INFO,
        object: *mut ASN1_OBJECT,
        version: c_int,
        parameter_type: c_int,
        parameter: *mut c_void,
        encoding: *mut c_uchar,
        len: c_int,
    ) -> c_int;
    pub(crate) fn PKCS8_pkey_get0(
        object: *mut *const ASN1_OBJECT,
        encoding: *mut *const c_uchar,
        len: *mut c_int,
        algorithm: *mut *const X509_ALGOR,
        p8: *const PKCS8_PRIV_KEY_INFO,
    ) -> c_int;
}
