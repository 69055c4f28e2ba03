//! The part of libcrypto's interface that the targets use, and the engine in it.

use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::ptr;
use std::sync::OnceLock;

use engntru_linked as _;

macro_rules! opaque {
    ($($name:ident)+) => {$(
        /// A structure of OpenSSL.
        #[repr(C)]
        pub struct $name {
            _private: [u8; 0],
        }
    )+};
}

opaque!(Engine Pkey PkeyCtx Bio Pkcs8);

/// `dynamic_fns` of openssl/engine.h.
#[repr(C)]
struct DynamicFns {
    static_state: *mut c_void,
    memory: [*mut c_void; 3],
}

#[allow(missing_docs, reason = "OpenSSL's manual describes them")]
unsafe extern "C" {
    fn bind_engine(e: *mut Engine, id: *const c_char, fns: *const DynamicFns) -> c_int;
    fn ENGINE_new() -> *mut Engine;
    fn ENGINE_get_static_state() -> *mut c_void;
    fn ENGINE_init(e: *mut Engine) -> c_int;
    fn ENGINE_set_default(e: *mut Engine, flags: u32) -> c_int;
    pub fn ENGINE_ctrl_cmd_string(
        e: *mut Engine,
        name: *const c_char,
        argument: *const c_char,
        optional: c_int,
    ) -> c_int;
    fn OBJ_sn2nid(name: *const c_char) -> c_int;
    fn ERR_peek_error() -> std::ffi::c_ulong;
    fn ERR_clear_error();
    fn CRYPTO_free(memory: *mut c_void, file: *const c_char, line: c_int);

    pub fn EVP_PKEY_new() -> *mut Pkey;
    pub fn EVP_PKEY_free(key: *mut Pkey);
    pub fn EVP_PKEY_id(key: *const Pkey) -> c_int;
    pub fn EVP_PKEY_set_type(key: *mut Pkey, nid: c_int) -> c_int;
    pub fn EVP_PKEY_cmp(a: *const Pkey, b: *const Pkey) -> c_int;
    pub fn EVP_PKEY_set1_tls_encodedpoint(key: *mut Pkey, point: *const u8, len: usize) -> c_int;
    pub fn EVP_PKEY_get1_tls_encodedpoint(key: *mut Pkey, point: *mut *mut u8) -> usize;
    pub fn EVP_PKEY_new_raw_public_key(nid: c_int, e: *mut Engine, key: *const u8, len: usize) -> *mut Pkey;
    pub fn EVP_PKEY_new_raw_private_key(nid: c_int, e: *mut Engine, key: *const u8, len: usize) -> *mut Pkey;
    pub fn EVP_PKEY_get_raw_public_key(key: *const Pkey, out: *mut u8, len: *mut usize) -> c_int;
    pub fn EVP_PKEY_get_raw_private_key(key: *const Pkey, out: *mut u8, len: *mut usize) -> c_int;
    pub fn EVP_PKEY_print_private(out: *mut Bio, key: *const Pkey, indent: c_int, context: *mut c_void) -> c_int;

    pub fn EVP_PKEY_CTX_new(key: *mut Pkey, e: *mut Engine) -> *mut PkeyCtx;
    pub fn EVP_PKEY_CTX_new_id(nid: c_int, e: *mut Engine) -> *mut PkeyCtx;
    pub fn EVP_PKEY_CTX_free(ctx: *mut PkeyCtx);
    pub fn EVP_PKEY_keygen_init(ctx: *mut PkeyCtx) -> c_int;
    pub fn EVP_PKEY_keygen(ctx: *mut PkeyCtx, key: *mut *mut Pkey) -> c_int;
    pub fn EVP_PKEY_encrypt_init(ctx: *mut PkeyCtx) -> c_int;
    pub fn EVP_PKEY_encrypt(ctx: *mut PkeyCtx, out: *mut u8, len: *mut usize, input: *const u8, size: usize) -> c_int;
    pub fn EVP_PKEY_decrypt_init(ctx: *mut PkeyCtx) -> c_int;
    pub fn EVP_PKEY_decrypt(ctx: *mut PkeyCtx, out: *mut u8, len: *mut usize, input: *const u8, size: usize) -> c_int;
    pub fn EVP_PKEY_derive_init(ctx: *mut PkeyCtx) -> c_int;
    pub fn EVP_PKEY_derive_set_peer(ctx: *mut PkeyCtx, peer: *mut Pkey) -> c_int;
    pub fn EVP_PKEY_derive(ctx: *mut PkeyCtx, out: *mut u8, len: *mut usize) -> c_int;

    pub fn d2i_PUBKEY(key: *mut *mut Pkey, place: *mut *const u8, len: c_long) -> *mut Pkey;
    pub fn i2d_PUBKEY(key: *mut Pkey, place: *mut *mut u8) -> c_int;
    pub fn d2i_AutoPrivateKey(key: *mut *mut Pkey, place: *mut *const u8, len: c_long) -> *mut Pkey;
    pub fn EVP_PKEY2PKCS8(key: *const Pkey) -> *mut Pkcs8;
    pub fn i2d_PKCS8_PRIV_KEY_INFO(p8: *const Pkcs8, place: *mut *mut u8) -> c_int;
    pub fn PKCS8_PRIV_KEY_INFO_free(p8: *mut Pkcs8);
    pub fn BIO_new_mem_buf(bytes: *const c_void, len: c_int) -> *mut Bio;
    pub fn BIO_new(method: *const c_void) -> *mut Bio;
    pub fn BIO_s_mem() -> *const c_void;
    pub fn BIO_s_null() -> *const c_void;
    pub fn BIO_read(bio: *mut Bio, out: *mut c_void, len: c_int) -> c_int;
    pub fn BIO_free(bio: *mut Bio) -> c_int;
    pub fn PEM_read_bio_PUBKEY(
        bio: *mut Bio,
        key: *mut *mut Pkey,
        password: *mut c_void,
        user: *const c_void,
    ) -> *mut Pkey;
    pub fn PEM_read_bio_PrivateKey(
        bio: *mut Bio,
        key: *mut *mut Pkey,
        password: *mut c_void,
        user: *const c_void,
    ) -> *mut Pkey;
    pub fn PEM_write_bio_PUBKEY(bio: *mut Bio, key: *mut Pkey) -> c_int;
    pub fn PEM_write_bio_PKCS8PrivateKey(
        bio: *mut Bio,
        key: *mut Pkey,
        cipher: *const c_void,
        password: *mut c_char,
        len: c_int,
        callback: *mut c_void,
        user: *mut c_void,
    ) -> c_int;
}

/// Sizes of a scheme, from the specification.
pub struct Scheme {
    /// The group's and the object's name.
    pub name: &'static CStr,
    /// Bytes of a public key.
    pub public_key: usize,
    /// Bytes of a secret key.
    pub secret_key: usize,
    /// Bytes of a ciphertext.
    pub ciphertext: usize,
}

/// What the engine serves.
pub const SCHEMES: [Scheme; 2] = [
    Scheme { name: c"sntrup761", public_key: 1158, secret_key: 1763, ciphertext: 1039 },
    Scheme { name: c"sntrup857", public_key: 1322, secret_key: 1999, ciphertext: 1184 },
];

impl Scheme {
    /// The number of its object.
    #[must_use]
    pub fn nid(&self) -> c_int {
        // SAFETY: a lookup by a string that ends.
        unsafe { OBJ_sn2nid(self.name.as_ptr()) }
    }

    /// A new key pair.
    #[must_use]
    pub fn generate(&self) -> Key {
        let mut key = ptr::null_mut();
        // SAFETY: the usual three steps, on a context that is freed after them.
        unsafe {
            let ctx = EVP_PKEY_CTX_new_id(self.nid(), ptr::null_mut());
            assert!(EVP_PKEY_keygen_init(ctx) == 1 && EVP_PKEY_keygen(ctx, &mut key) == 1);
            EVP_PKEY_CTX_free(ctx);
        }
        Key(key)
    }
}

/// The engine, bound and made the default at the first call.
pub fn engine() -> *mut Engine {
    static ENGINE: OnceLock<usize> = OnceLock::new();
    let address = ENGINE.get_or_init(|| {
        // SAFETY: what OpenSSL's loader does, with the engine's own entry point; the ENGINE lives for ever.
        unsafe {
            let engine = ENGINE_new();
            let fns = DynamicFns { static_state: ENGINE_get_static_state(), memory: [ptr::null_mut(); 3] };
            assert_eq!(bind_engine(engine, ptr::null(), &fns), 1);
            // ENGINE_METHOD_PKEY_METHS and ENGINE_METHOD_PKEY_ASN1_METHS.
            assert!(ENGINE_init(engine) == 1 && ENGINE_set_default(engine, 0x200 | 0x400) == 1);
            engine as usize
        }
    });
    *address as *mut Engine
}

/// An EVP_PKEY of ours to free; never NULL.
pub struct Key(pub *mut Pkey);

impl Key {
    /// A key that a call returned, if it did.
    #[must_use]
    pub fn returned(key: *mut Pkey) -> Option<Self> {
        (!key.is_null()).then_some(Key(key))
    }

    /// Takes the secret that waits. `false` if none does.
    pub fn derive(&self, secret: &mut [u8; 32]) -> bool {
        let mut len = secret.len();
        // SAFETY: libssl's steps, on a live key and a buffer of the length that is given.
        unsafe {
            let ctx = EVP_PKEY_CTX_new(self.0, ptr::null_mut());
            assert!(EVP_PKEY_derive_init(ctx) == 1 && EVP_PKEY_derive_set_peer(ctx, self.0) == 1);
            let done = EVP_PKEY_derive(ctx, secret.as_mut_ptr(), &mut len) == 1;
            EVP_PKEY_CTX_free(ctx);
            assert!(!done || len == 32);
            done
        }
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: the key is this value's.
        unsafe { EVP_PKEY_free(self.0) };
    }
}

/// Frees what OpenSSL allocated.
///
/// # Safety
/// `memory` is NULL or OpenSSL's, and not used again.
pub unsafe fn free(memory: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { CRYPTO_free(memory.cast(), c"fuzz".as_ptr(), 0) };
}

/// A failure has to leave a reason, and a success none.
pub fn check_queue(succeeded: bool) {
    // SAFETY: the queue is this thread's.
    let empty = unsafe { ERR_peek_error() == 0 };
    assert_eq!(empty, succeeded, "the error queue after success: {succeeded}");
    // SAFETY: as above.
    unsafe { ERR_clear_error() };
}

/// Forgets the errors of functions that may fail for reasons of OpenSSL's own.
pub fn clear_queue() {
    // SAFETY: the queue is this thread's.
    unsafe { ERR_clear_error() };
}
