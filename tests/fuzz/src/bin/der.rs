//! Keys in DER and PEM: SubjectPublicKeyInfo and PKCS#8 of any bytes, through libcrypto into the engine. What is taken is
//! written, read again and is the same key.
#![no_main]

use std::ptr;
use std::sync::LazyLock;

use engntru_fuzz::damaged;
use engntru_fuzz::openssl::{self, *};
use libfuzzer_sys::fuzz_target;

/// The four forms of a genuine key: DER and PEM, public and private.
static GENUINE: LazyLock<Vec<[Vec<u8>; 4]>> = LazyLock::new(|| {
    openssl::engine();
    SCHEMES
        .iter()
        .map(|scheme| {
            let key = scheme.generate();
            [public_der(&key), private_der(&key), pem(&key, false), pem(&key, true)]
        })
        .collect()
});

/// What a function of OpenSSL's writes into memory that it allocates.
fn encoded(write: impl FnOnce(&mut *mut u8) -> i32) -> Vec<u8> {
    let mut out = ptr::null_mut();
    let len = usize::try_from(write(&mut out)).expect("a length");
    assert!(len > 0 && !out.is_null());
    // SAFETY: the function wrote `len` bytes into its own allocation.
    unsafe {
        let bytes = std::slice::from_raw_parts(out, len).to_vec();
        openssl::free(out);
        bytes
    }
}

fn public_der(key: &Key) -> Vec<u8> {
    // SAFETY: the key is live.
    encoded(|out| unsafe { i2d_PUBKEY(key.0, out) })
}

fn private_der(key: &Key) -> Vec<u8> {
    // SAFETY: the key is live, and the structure is freed after it was written.
    unsafe {
        let p8 = EVP_PKEY2PKCS8(key.0);
        assert!(!p8.is_null());
        let der = encoded(|out| i2d_PKCS8_PRIV_KEY_INFO(p8, out));
        PKCS8_PRIV_KEY_INFO_free(p8);
        der
    }
}

fn pem(key: &Key, private: bool) -> Vec<u8> {
    let mut out = vec![0; 10_000];
    // SAFETY: the key is live, the buffer has the length that is given, the BIO is freed after its use.
    unsafe {
        let bio = BIO_new(BIO_s_mem());
        let none = ptr::null_mut();
        let written = if private {
            PEM_write_bio_PKCS8PrivateKey(bio, key.0, ptr::null(), ptr::null_mut(), 0, none, none)
        } else {
            PEM_write_bio_PUBKEY(bio, key.0)
        };
        assert_eq!(written, 1);
        let len = BIO_read(bio, out.as_mut_ptr().cast(), 10_000);
        BIO_free(bio);
        out.truncate(usize::try_from(len).expect("a length"));
    }
    out
}

/// Reads a key in one of the forms.
fn read(form: usize, bytes: &[u8]) -> Option<Key> {
    let len = i32::try_from(bytes.len()).expect("inputs are short");
    // A password that no input knows, so that nobody is asked for one at a terminal.
    let password = c"password".as_ptr().cast();
    // SAFETY: readable bytes of that length; the BIO is freed after its use.
    unsafe {
        let mut place = bytes.as_ptr();
        let key = match form {
            0 => d2i_PUBKEY(ptr::null_mut(), &mut place, len.into()),
            1 => d2i_AutoPrivateKey(ptr::null_mut(), &mut place, len.into()),
            _ => {
                let bio = BIO_new_mem_buf(bytes.as_ptr().cast(), len);
                let read = if form == 2 { PEM_read_bio_PUBKEY } else { PEM_read_bio_PrivateKey };
                let key = read(bio, ptr::null_mut(), ptr::null_mut(), password);
                BIO_free(bio);
                key
            }
        };
        Key::returned(key)
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((&head, rest)) = input.split_first() else { return };
    let scheme = usize::from(head & 1);
    let form = usize::from(head >> 1 & 3);
    let edits = head & 8 == 0;
    let genuine = &GENUINE[scheme][form];
    let bytes = damaged(genuine, edits, rest);
    let key = read(form, &bytes);
    assert!(key.is_some() || bytes != *genuine, "a genuine key is refused");
    clear_queue();
    let Some(key) = key else { return };
    // SAFETY: the key is live.
    let id = unsafe { EVP_PKEY_id(key.0) };
    let Some(scheme) = SCHEMES.iter().find(|scheme| scheme.nid() == id) else { return };
    let written = match form {
        0 => public_der(&key),
        1 => private_der(&key),
        _ => pem(&key, form == 3),
    };
    let again = read(form, &written).expect("what was written can be read");
    // SAFETY: both keys are live, and the BIO swallows everything.
    unsafe {
        assert_eq!(EVP_PKEY_cmp(key.0, again.0), 1);
        if form & 1 == 1 {
            let bio = BIO_new(BIO_s_null());
            assert_eq!(EVP_PKEY_print_private(bio, key.0, 4, ptr::null_mut()), 1);
            BIO_free(bio);
            let (mut secret, mut len) = (vec![0; scheme.secret_key], scheme.secret_key);
            assert_eq!(EVP_PKEY_get_raw_private_key(again.0, secret.as_mut_ptr(), &mut len), 1);
            assert!(written.windows(len).any(|window| window == secret) || form == 3);
        }
    }
    check_queue(true);
});
