//! The engine's entry points for TLS and for raw keys: shares, ciphertexts and keys of any bytes and length, and control
//! commands of any text.
#![no_main]

use std::ffi::CString;
use std::ptr;
use std::sync::LazyLock;

use engntru_fuzz::openssl::{self, *};
use engntru_fuzz::{damaged, resized};
use libfuzzer_sys::fuzz_target;

/// A key pair of a scheme in plain bytes, and a ciphertext to it.
struct Genuine {
    public: Vec<u8>,
    secret: Vec<u8>,
    ciphertext: Vec<u8>,
}

static GENUINE: LazyLock<Vec<Genuine>> = LazyLock::new(|| {
    openssl::engine();
    SCHEMES
        .iter()
        .map(|scheme| {
            let key = scheme.generate();
            let (mut public, mut secret) = (vec![0; scheme.public_key], vec![0; scheme.secret_key]);
            let (mut public_len, mut secret_len) = (public.len(), secret.len());
            // SAFETY: the buffers have the lengths that are given.
            let got = unsafe {
                EVP_PKEY_get_raw_public_key(key.0, public.as_mut_ptr(), &mut public_len) == 1
                    && EVP_PKEY_get_raw_private_key(key.0, secret.as_mut_ptr(), &mut secret_len) == 1
            };
            assert!(got && public_len == public.len() && secret_len == secret.len());
            let ciphertext = encrypt(scheme, &key);
            Genuine { public, secret, ciphertext }
        })
        .collect()
});

/// What the server does with a client's share.
fn encrypt(scheme: &Scheme, key: &Key) -> Vec<u8> {
    let mut ciphertext = vec![0; scheme.ciphertext];
    let mut len = ciphertext.len();
    // SAFETY: the key is live and the buffer has the length that is given.
    let done = unsafe {
        let ctx = EVP_PKEY_CTX_new(key.0, ptr::null_mut());
        assert_eq!(EVP_PKEY_encrypt_init(ctx), 1);
        let done = EVP_PKEY_encrypt(ctx, ciphertext.as_mut_ptr(), &mut len, ptr::null(), 0);
        EVP_PKEY_CTX_free(ctx);
        done
    };
    assert!(done == 1 && len == ciphertext.len());
    assert!(key.derive(&mut [0; 32]), "the secret of an encapsulation waits");
    ciphertext
}

/// A client's share reaches a server.
fn client_share(scheme: &Scheme, share: &[u8]) {
    // SAFETY: libssl's steps with a new key and readable bytes.
    unsafe {
        let key = Key(EVP_PKEY_new());
        assert_eq!(EVP_PKEY_set_type(key.0, scheme.nid()), 1);
        let taken = EVP_PKEY_set1_tls_encodedpoint(key.0, share.as_ptr(), share.len()) == 1;
        assert_eq!(taken, share.len() == scheme.public_key, "a share of {} bytes", share.len());
        check_queue(taken);
        if taken {
            encrypt(scheme, &key);
            let mut point = ptr::null_mut();
            let len = EVP_PKEY_get1_tls_encodedpoint(key.0, &mut point);
            assert_eq!(std::slice::from_raw_parts(point, len), share);
            openssl::free(point);
            check_queue(true);
        }
    }
}

/// A server's share reaches a client.
fn server_share(scheme: &Scheme, good: &Genuine, share: &[u8]) {
    // SAFETY: libssl's steps with a live key and readable bytes.
    unsafe {
        let secret = &good.secret;
        let key = EVP_PKEY_new_raw_private_key(scheme.nid(), ptr::null_mut(), secret.as_ptr(), secret.len());
        let key = Key::returned(key).expect("a genuine key");
        let mut len = 0;
        let ctx = EVP_PKEY_CTX_new(key.0, ptr::null_mut());
        assert_eq!(EVP_PKEY_decrypt_init(ctx), 1);
        let taken = EVP_PKEY_decrypt(ctx, ptr::null_mut(), &mut len, share.as_ptr(), share.len()) == 1;
        EVP_PKEY_CTX_free(ctx);
        assert_eq!(taken, share.len() == scheme.ciphertext, "a share of {} bytes", share.len());
        check_queue(taken);
        let (mut first, mut second) = ([0; 32], [0; 32]);
        let derived = key.derive(&mut first);
        assert_eq!(derived, taken, "a secret waits after a decapsulation, and only then");
        check_queue(derived);
        assert!(!key.derive(&mut second), "a secret is handed out once");
        check_queue(false);
    }
}

/// A raw key, public or secret, of any bytes.
fn raw_key(scheme: &Scheme, good: &Genuine, bytes: &[u8], secret: bool) {
    // SAFETY: readable bytes, and buffers of the lengths that are given.
    unsafe {
        let new = if secret { EVP_PKEY_new_raw_private_key } else { EVP_PKEY_new_raw_public_key };
        let size = if secret { scheme.secret_key } else { scheme.public_key };
        let key = Key::returned(new(scheme.nid(), ptr::null_mut(), bytes.as_ptr(), bytes.len()));
        check_queue(key.is_some());
        // Any public key of the right length is one; of secret keys only those whose parts fit.
        let possible = bytes.len() == size;
        assert!(if secret { possible || key.is_none() } else { possible == key.is_some() });
        assert!(!secret || key.is_some() || bytes != good.secret);
        let Some(key) = key else { return };
        let (mut out, mut len) = (vec![0; size], size);
        let get = if secret { EVP_PKEY_get_raw_private_key } else { EVP_PKEY_get_raw_public_key };
        assert!(get(key.0, out.as_mut_ptr(), &mut len) == 1 && len == size && out == bytes);
        encrypt(scheme, &key);
        check_queue(true);
    }
}

/// A control command with any text.
fn command(number: u8, text: &[u8]) {
    let names = [c"BATCH_SIZE", c"BACKEND", c"VERSION", c"BACKEND_IN_USE", c"STOCK_LEVEL", c"BACKGROUND_REFILL"];
    let text: Vec<u8> = text.iter().copied().filter(|&byte| byte != 0).collect();
    let text = CString::new(text).expect("the zeros are gone");
    // SAFETY: strings that end.
    unsafe {
        let name = names[usize::from(number) % names.len()].as_ptr();
        ENGINE_ctrl_cmd_string(openssl::engine(), name, text.as_ptr(), 0);
        clear_queue();
        // Whatever came of it, keys are made; and later inputs are not to wait for batches of a thousand, or run beside a thread.
        for (name, value) in [(c"BATCH_SIZE", c"2"), (c"BACKGROUND_REFILL", c"0")] {
            assert_eq!(ENGINE_ctrl_cmd_string(openssl::engine(), name.as_ptr(), value.as_ptr(), 0), 1);
        }
    }
    encrypt(&SCHEMES[0], &SCHEMES[0].generate());
    check_queue(true);
}

fuzz_target!(|input: &[u8]| {
    let Some((&head, rest)) = input.split_first() else { return };
    let (scheme, good) = (&SCHEMES[usize::from(head & 1)], &GENUINE[usize::from(head & 1)]);
    let edits = head & 2 == 0;
    let exact = head & 4 == 0;
    let bytes = |whole: &[u8]| {
        let bytes = damaged(whole, edits, rest);
        if exact { resized(bytes, whole.len()) } else { bytes }
    };
    match head >> 3 & 7 {
        0 | 1 => client_share(scheme, &bytes(&good.public)),
        2 | 3 => server_share(scheme, good, &bytes(&good.ciphertext)),
        4 => raw_key(scheme, good, &bytes(&good.public), false),
        5 | 6 => raw_key(scheme, good, &bytes(&good.secret), true),
        // The bit that elsewhere chooses the set makes room for eight numbers.
        _ => command(head >> 6 | (head & 1) << 2, rest),
    }
});
