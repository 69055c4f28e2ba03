//! EVP_PKEY_ASN1_METHOD: TLS key shares, DER, printing, comparison and sizes of the keys.
//!
//! - TLS key share, raw public key: the encoding of the specification, without any framing.
//! - SubjectPublicKeyInfo: that encoding is the content of the BIT STRING; the algorithm has no parameters.
//! - PKCS#8: the specification's secret key, which contains the public key, is the content of the OCTET STRING
//!   `privateKey`; no parameters. A secret key whose parts do not fit each other is refused.
//! - `openssl pkey -text` prints private keys whole, as it does for every other type.

use std::ffi::{c_int, c_long, c_uchar, c_void};
use std::ptr;
use std::sync::atomic::Ordering;

use engntru_common::key::Material;
use sntrup_core::PublicKey;

use crate::error::{Error, Function, Reason};
use crate::ffi::guard::guard;
use crate::ffi::handles::{self, Buffer, Output, Pkey};
use crate::ffi::returns::{Comparison, Done, Number, Reply};
use crate::ffi::sys;
use crate::keypair::Keys;
use crate::rng::OpensslRandom;
use crate::scheme::Scheme;

/// The encodings of a scheme under the number `nid`; NULL if there is no memory.
pub(crate) fn new<S: Scheme>(nid: c_int) -> *mut sys::EVP_PKEY_ASN1_METHOD {
    // SAFETY: the callbacks have the types that the setters declare, OpenSSL copies the strings, and the method is ours
    // until it is given away.
    unsafe {
        let method = sys::EVP_PKEY_asn1_new(nid, 0, S::OBJECT_NAME.as_ptr(), S::DESCRIPTION.as_ptr());
        if !method.is_null() {
            sys::EVP_PKEY_asn1_set_public(
                method,
                pub_decode::<S>,
                pub_encode::<S>,
                pub_cmp::<S>,
                pub_print::<S>,
                size::<S>,
                bits::<S>,
            );
            sys::EVP_PKEY_asn1_set_private(method, priv_decode::<S>, priv_encode::<S>, priv_print::<S>);
            sys::EVP_PKEY_asn1_set_param(method, None, None, None, None, Some(param_cmp), None);
            sys::EVP_PKEY_asn1_set_free(method, free::<S>);
            sys::EVP_PKEY_asn1_set_ctrl(method, ctrl::<S>);
            sys::EVP_PKEY_asn1_set_security_bits(method, security_bits::<S>);
            sys::EVP_PKEY_asn1_set_set_priv_key(method, set_priv_key::<S>);
            sys::EVP_PKEY_asn1_set_set_pub_key(method, set_pub_key::<S>);
            sys::EVP_PKEY_asn1_set_get_priv_key(method, get_priv_key::<S>);
            sys::EVP_PKEY_asn1_set_get_pub_key(method, get_pub_key::<S>);
        }
        method
    }
}

unsafe extern "C" fn pub_decode<S: Scheme>(pkey: *mut sys::EVP_PKEY, public: *const sys::X509_PUBKEY) -> c_int {
    // SAFETY: the decoder gives an EVP_PKEY to fill and the structure that it parsed.
    guard(Function::PubDecode, || unsafe { do_pub_decode::<S>(Pkey::borrow(pkey)?, public) })
}

unsafe extern "C" fn pub_encode<S: Scheme>(public: *mut sys::X509_PUBKEY, pkey: *const sys::EVP_PKEY) -> c_int {
    // SAFETY: the encoder gives a live key and a structure to fill.
    guard(Function::PubEncode, || unsafe { do_pub_encode::<S>(public, Pkey::borrow(pkey)?) })
}

unsafe extern "C" fn pub_cmp<S: Scheme>(a: *const sys::EVP_PKEY, b: *const sys::EVP_PKEY) -> c_int {
    // SAFETY: EVP_PKEY_cmp gives two live keys.
    guard(Function::PubCmp, || unsafe { do_pub_cmp::<S>(Pkey::borrow(a)?, Pkey::borrow(b)?) })
}

unsafe extern "C" fn pub_print<S: Scheme>(
    out: *mut sys::BIO,
    pkey: *const sys::EVP_PKEY,
    indent: c_int,
    _: *mut sys::ASN1_PCTX,
) -> c_int {
    // SAFETY: EVP_PKEY_print_public gives a live key and BIO.
    guard(Function::PubPrint, || unsafe { do_print::<S>(out, Pkey::borrow(pkey)?, indent, false) })
}

unsafe extern "C" fn priv_decode<S: Scheme>(pkey: *mut sys::EVP_PKEY, p8: *const sys::PKCS8_PRIV_KEY_INFO) -> c_int {
    // SAFETY: the decoder gives an EVP_PKEY to fill and the structure that it parsed.
    guard(Function::PrivDecode, || unsafe { do_priv_decode::<S>(Pkey::borrow(pkey)?, p8) })
}

unsafe extern "C" fn priv_encode<S: Scheme>(p8: *mut sys::PKCS8_PRIV_KEY_INFO, pkey: *const sys::EVP_PKEY) -> c_int {
    // SAFETY: the encoder gives a live key and a structure to fill.
    guard(Function::PrivEncode, || unsafe { do_priv_encode::<S>(p8, Pkey::borrow(pkey)?) })
}

unsafe extern "C" fn priv_print<S: Scheme>(
    out: *mut sys::BIO,
    pkey: *const sys::EVP_PKEY,
    indent: c_int,
    _: *mut sys::ASN1_PCTX,
) -> c_int {
    // SAFETY: EVP_PKEY_print_private gives a live key and BIO.
    guard(Function::PrivPrint, || unsafe { do_print::<S>(out, Pkey::borrow(pkey)?, indent, true) })
}

unsafe extern "C" fn param_cmp(_: *const sys::EVP_PKEY, _: *const sys::EVP_PKEY) -> c_int {
    // There are no parameters, so those of two keys are always the same; EVP_PKEY_copy_parameters asks.
    guard(Function::ParamCmp, || Ok(Comparison::Equal))
}

unsafe extern "C" fn size<S: Scheme>(_: *const sys::EVP_PKEY) -> c_int {
    // EVP_PKEY_size is the largest output of an operation: the ciphertext.
    guard(Function::KeySize, || Ok(Number(as_int(S::CIPHERTEXT_BYTES))))
}

unsafe extern "C" fn bits<S: Scheme>(_: *const sys::EVP_PKEY) -> c_int {
    guard(Function::KeyBits, || Ok(Number(as_int(8 * S::PUBLIC_KEY_BYTES))))
}

unsafe extern "C" fn security_bits<S: Scheme>(_: *const sys::EVP_PKEY) -> c_int {
    guard(Function::SecurityBits, || Ok(Number(S::SECURITY_BITS)))
}

unsafe extern "C" fn free<S: Scheme>(pkey: *mut sys::EVP_PKEY) {
    // SAFETY: EVP_PKEY_free, or a change of type, gives a key that is still whole.
    guard(Function::KeyFree, || Ok(Keys::<S>::release(unsafe { Pkey::borrow(pkey) }?)))
}

unsafe extern "C" fn ctrl<S: Scheme>(pkey: *mut sys::EVP_PKEY, op: c_int, arg1: c_long, arg2: *mut c_void) -> c_int {
    // SAFETY: arg1 and arg2 are what the request says: see `do_ctrl`.
    guard(Function::KeyCtrl, || unsafe { do_ctrl::<S>(Pkey::borrow(pkey)?, op, arg1, arg2) })
}

unsafe extern "C" fn set_priv_key<S: Scheme>(pkey: *mut sys::EVP_PKEY, bytes: *const c_uchar, len: usize) -> c_int {
    // SAFETY: EVP_PKEY_new_raw_private_key gives an EVP_PKEY to fill and `len` bytes.
    guard(Function::SetPrivKey, || unsafe { set_secret::<S>(Pkey::borrow(pkey)?, handles::bytes(bytes, len)) })
}

unsafe extern "C" fn set_pub_key<S: Scheme>(pkey: *mut sys::EVP_PKEY, bytes: *const c_uchar, len: usize) -> c_int {
    // SAFETY: EVP_PKEY_new_raw_public_key gives an EVP_PKEY to fill and `len` bytes.
    guard(Function::SetPubKey, || unsafe { set_public::<S>(Pkey::borrow(pkey)?, handles::bytes(bytes, len)) })
}

unsafe extern "C" fn get_priv_key<S: Scheme>(
    pkey: *const sys::EVP_PKEY,
    bytes: *mut c_uchar,
    len: *mut usize,
) -> c_int {
    // SAFETY: EVP_PKEY_get_raw_private_key gives a live key and a buffer of *len bytes, or NULL.
    guard(Function::GetPrivKey, || unsafe {
        let keys = Keys::<S>::of(Pkey::borrow(pkey)?)?;
        get_raw(Output::borrow(bytes, len)?, keys.material().secret()?.as_bytes())
    })
}

unsafe extern "C" fn get_pub_key<S: Scheme>(pkey: *const sys::EVP_PKEY, bytes: *mut c_uchar, len: *mut usize) -> c_int {
    // SAFETY: EVP_PKEY_get_raw_public_key gives a live key and a buffer of *len bytes, or NULL.
    guard(Function::GetPubKey, || unsafe {
        let keys = Keys::<S>::of(Pkey::borrow(pkey)?)?;
        get_raw(Output::borrow(bytes, len)?, keys.material().public.as_bytes())
    })
}

fn as_int(size: usize) -> c_int {
    c_int::try_from(size).expect("sizes of keys and ciphertexts are small")
}

fn set_public<S: Scheme>(pkey: Pkey<'_>, bytes: &[u8]) -> Result<Done, Error> {
    Keys::<S>::install(pkey, PublicKey::from_bytes(bytes)?)?;
    Ok(Done)
}

fn set_secret<S: Scheme>(pkey: Pkey<'_>, bytes: &[u8]) -> Result<Done, Error> {
    Keys::<S>::install(pkey, Material::from_secret(bytes, &mut OpensslRandom)?)?;
    Ok(Done)
}

fn get_raw(mut out: Output<'_>, bytes: &[u8]) -> Result<Done, Error> {
    if out.is_size_query() {
        out.set_size(bytes.len());
    } else {
        out.write(bytes)?;
    }
    Ok(Done)
}

fn do_pub_cmp<S: Scheme>(a: Pkey<'_>, b: Pkey<'_>) -> Result<Comparison, Error> {
    let (Some(a), Some(b)) = (Keys::<S>::peek(a)?, Keys::<S>::peek(b)?) else {
        return Ok(Comparison::Incomparable);
    };
    let equal = a.material().public == b.material().public;
    Ok(if equal { Comparison::Equal } else { Comparison::Different })
}

/// # Safety
/// For SET1_TLS_ENCPT `arg2` is `arg1` readable bytes, for GET1_TLS_ENCPT a place for a pointer; either may be NULL.
unsafe fn do_ctrl<S: Scheme>(pkey: Pkey<'_>, op: c_int, arg1: c_long, arg2: *mut c_void) -> Result<Reply, Error> {
    match op {
        sys::ASN1_PKEY_CTRL_SET1_TLS_ENCPT => {
            // SAFETY: the caller's contract.
            let share = unsafe { handles::bytes(arg2.cast(), usize::try_from(arg1).unwrap_or(0)) };
            set_public::<S>(pkey, share)?;
            Ok(Reply::Done)
        }
        sys::ASN1_PKEY_CTRL_GET1_TLS_ENCPT => {
            // SAFETY: the caller's contract.
            let Some(place) = (unsafe { arg2.cast::<*mut c_uchar>().as_mut() }) else {
                return Err(Error::new(Reason::NullArgument).with("the place for the key share is NULL"));
            };
            let share = Buffer::copy_of(Keys::<S>::of(pkey)?.material().public.as_bytes())?;
            let len = share.len();
            *place = share.hand_over();
            Ok(Reply::Number(len))
        }
        _ => Ok(Reply::Unsupported),
    }
}

/// The object of the scheme, which OpenSSL owns.
fn object<S: Scheme>() -> Result<*mut sys::ASN1_OBJECT, Error> {
    // SAFETY: a lookup; NULL if there is no such number.
    let object = unsafe { sys::OBJ_nid2obj(S::row().nid.load(Ordering::Acquire)) };
    if object.is_null() { Err(Error::new(Reason::Libcrypto).with("OBJ_nid2obj")) } else { Ok(object) }
}

/// # Safety
/// `public` must be a live X509_PUBKEY.
unsafe fn do_pub_encode<S: Scheme>(public: *mut sys::X509_PUBKEY, pkey: Pkey<'_>) -> Result<Done, Error> {
    let key = Buffer::copy_of(Keys::<S>::of(pkey)?.material().public.as_bytes())?;
    let object = object::<S>()?;
    // SAFETY: on success the structure takes the buffer over, which comes from OpenSSL's allocator; on failure it does not.
    let set = unsafe {
        sys::X509_PUBKEY_set0_param(public, object, sys::V_ASN1_UNDEF, ptr::null_mut(), key.as_ptr(), key.len()) == 1
    };
    if !set {
        return Err(Error::new(Reason::Libcrypto).with("X509_PUBKEY_set0_param"));
    }
    key.hand_over();
    Ok(Done)
}

/// # Safety
/// `public` must be a live X509_PUBKEY.
unsafe fn do_pub_decode<S: Scheme>(pkey: Pkey<'_>, public: *const sys::X509_PUBKEY) -> Result<Done, Error> {
    let mut encoding = ptr::null();
    let mut len = 0;
    let mut algorithm = ptr::null_mut();
    // SAFETY: the structure is live, and what it gives is borrowed from it.
    let found =
        unsafe { sys::X509_PUBKEY_get0_param(ptr::null_mut(), &mut encoding, &mut len, &mut algorithm, public) == 1 };
    if !found {
        return Err(Error::new(Reason::Libcrypto).with("X509_PUBKEY_get0_param"));
    }
    // SAFETY: as above.
    unsafe {
        refuse_parameters(algorithm)?;
        set_public::<S>(pkey, handles::bytes(encoding, usize::try_from(len).unwrap_or(0)))
    }
}

/// # Safety
/// `p8` must be a live PKCS8_PRIV_KEY_INFO.
unsafe fn do_priv_encode<S: Scheme>(p8: *mut sys::PKCS8_PRIV_KEY_INFO, pkey: Pkey<'_>) -> Result<Done, Error> {
    let key = Buffer::copy_of(Keys::<S>::of(pkey)?.material().secret()?.as_bytes())?;
    let object = object::<S>()?;
    // SAFETY: on success the structure takes the buffer over, and wipes it when it is freed; on failure it does not.
    let set = unsafe {
        sys::PKCS8_pkey_set0(p8, object, 0, sys::V_ASN1_UNDEF, ptr::null_mut(), key.as_ptr(), key.len()) == 1
    };
    if !set {
        return Err(Error::new(Reason::Libcrypto).with("PKCS8_pkey_set0"));
    }
    key.hand_over();
    Ok(Done)
}

/// # Safety
/// `p8` must be a live PKCS8_PRIV_KEY_INFO.
unsafe fn do_priv_decode<S: Scheme>(pkey: Pkey<'_>, p8: *const sys::PKCS8_PRIV_KEY_INFO) -> Result<Done, Error> {
    let mut encoding = ptr::null();
    let mut len = 0;
    let mut algorithm = ptr::null();
    // SAFETY: the structure is live, and what it gives is borrowed from it.
    let found = unsafe { sys::PKCS8_pkey_get0(ptr::null_mut(), &mut encoding, &mut len, &mut algorithm, p8) == 1 };
    if !found {
        return Err(Error::new(Reason::Libcrypto).with("PKCS8_pkey_get0"));
    }
    // SAFETY: as above.
    unsafe {
        refuse_parameters(algorithm)?;
        set_secret::<S>(pkey, handles::bytes(encoding, usize::try_from(len).unwrap_or(0)))
    }
}

/// # Safety
/// `algorithm` must be a live X509_ALGOR.
unsafe fn refuse_parameters(algorithm: *const sys::X509_ALGOR) -> Result<(), Error> {
    let mut kind = sys::V_ASN1_UNDEF;
    // SAFETY: the structure is live; the other outputs are optional.
    unsafe { sys::X509_ALGOR_get0(ptr::null_mut(), &mut kind, ptr::null_mut(), algorithm) };
    if kind == sys::V_ASN1_UNDEF {
        Ok(())
    } else {
        Err(Error::new(Reason::BadEncoding).with("the algorithm identifier must have no parameters"))
    }
}

/// # Safety
/// `out` must be a live BIO.
unsafe fn do_print<S: Scheme>(out: *mut sys::BIO, pkey: Pkey<'_>, indent: c_int, private: bool) -> Result<Done, Error> {
    let material = Keys::<S>::of(pkey)?.material();
    let kind = if private { "Private" } else { "Public" };
    // SAFETY: the caller's contract. `print_bytes` makes no copy of the key.
    unsafe {
        print_line(out, indent, &format!("{} {kind}-Key:\n", S::NAME))?;
        if private {
            print_line(out, indent, "priv:\n")?;
            print_bytes(out, indent, material.secret()?.as_bytes())?;
        }
        print_line(out, indent, "pub:\n")?;
        print_bytes(out, indent, material.public.as_bytes())?;
    }
    Ok(Done)
}

/// # Safety
/// `out` must be a live BIO.
unsafe fn print_line(out: *mut sys::BIO, indent: c_int, text: &str) -> Result<(), Error> {
    // 128 is the limit of indentation that OpenSSL's own printers use. SAFETY: the caller's contract.
    let written = unsafe {
        sys::BIO_indent(out, indent, 128) == 1 && sys::BIO_write(out, text.as_ptr().cast(), as_int(text.len())) > 0
    };
    if written { Ok(()) } else { Err(Error::new(Reason::Libcrypto).with("BIO_write")) }
}

/// # Safety
/// `out` must be a live BIO.
unsafe fn print_bytes(out: *mut sys::BIO, indent: c_int, bytes: &[u8]) -> Result<(), Error> {
    // SAFETY: the caller's contract.
    let written = unsafe { sys::ASN1_buf_print(out, bytes.as_ptr(), bytes.len(), indent.saturating_add(4)) == 1 };
    if written { Ok(()) } else { Err(Error::new(Reason::Libcrypto).with("ASN1_buf_print")) }
}
