//! The way of errors into OpenSSL's error queue: library "engNTRU", a function, a reason, a detail.

use std::cell::UnsafeCell;
use std::ffi::{CStr, CString, c_int, c_ulong};
use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use engntru_common::codes;
use engntru_common::error::Code;
pub(crate) use engntru_common::error::{Error, Reason};

use crate::ffi::sys::{self, ERR_STRING_DATA};

codes! {
    /// The callback in which an error arose.
    pub(crate) Function:
    BindEngine = 100, c"bind_engine";
    Init = 101, c"init";
    Finish = 102, c"finish";
    Destroy = 103, c"destroy";
    Ctrl = 104, c"ctrl";
    PkeyMeths = 105, c"pkey_meths";
    PkeyAsn1Meths = 106, c"pkey_asn1_meths";
    Keygen = 110, c"keygen";
    Encrypt = 111, c"encrypt";
    Decrypt = 112, c"decrypt";
    Derive = 113, c"derive";
    PkeyCtxCtrl = 114, c"pkey_ctx_ctrl";
    PkeyCtxCopy = 115, c"pkey_ctx_copy";
    PubDecode = 120, c"pub_decode";
    PubEncode = 121, c"pub_encode";
    PubCmp = 122, c"pub_cmp";
    PubPrint = 123, c"pub_print";
    PrivDecode = 124, c"priv_decode";
    PrivEncode = 125, c"priv_encode";
    PrivPrint = 126, c"priv_print";
    ParamCmp = 127, c"param_cmp";
    KeySize = 128, c"key_size";
    KeyBits = 129, c"key_bits";
    SecurityBits = 130, c"security_bits";
    KeyFree = 131, c"key_free";
    KeyCtrl = 132, c"key_ctrl";
    SetPubKey = 133, c"set_pub_key";
    SetPrivKey = 134, c"set_priv_key";
    GetPubKey = 135, c"get_pub_key";
    GetPrivKey = 136, c"get_priv_key";
}

/// Puts an entry into the calling thread's error queue.
#[track_caller]
pub(crate) fn raise(function: Function, error: &Error) {
    let line = c_int::try_from(Location::caller().line()).unwrap_or(0);
    let file = c"engntru".as_ptr();
    let library = LIBRARY.load(Ordering::Acquire);
    // SAFETY: file and function name are constants, which the queue may keep; the functions touch the calling thread's
    // queue only, and a library number of 0 (before the first bind) is merely one without a name.
    #[cfg(openssl1)]
    unsafe {
        sys::ERR_put_error(library, function.number(), error.reason().number(), file, line);
    }
    // SAFETY: as above; a NULL format means no further text.
    #[cfg(openssl3)]
    unsafe {
        sys::ERR_new();
        sys::ERR_set_debug(file, line, function.text().as_ptr());
        sys::ERR_set_error(library, error.reason().number(), ptr::null());
    }
    if let Some(detail) = error.detail().and_then(|d| CString::new(d).ok()) {
        // SAFETY: one string follows, as the count says; the queue copies it.
        unsafe { sys::ERR_add_error_data(1, detail.as_ptr()) }
    }
}

/// Our library number; 0 before the first bind. It is asked for once in a process, since OpenSSL has 128 to give in all.
static LIBRARY: AtomicI32 = AtomicI32::new(0);

/// A table of strings in OpenSSL's form. OpenSSL writes the library number into it and keeps pointers to it.
struct Table<const N: usize>(UnsafeCell<[ERR_STRING_DATA; N]>);

// SAFETY: only `load_strings` and `unload_strings` touch a table, from bind and destroy, of which OpenSSL runs one at a
// time for one library; between the two, OpenSSL reads it under its own lock.
unsafe impl<const N: usize> Sync for Table<N> {}

const fn entry(code: c_ulong, text: &'static CStr) -> ERR_STRING_DATA {
    ERR_STRING_DATA { error: code, string: text.as_ptr() }
}

const END: ERR_STRING_DATA = ERR_STRING_DATA { error: 0, string: ptr::null() };

#[cfg(openssl1)]
static FUNCTIONS: Table<{ <Function as Code>::ALL.len() + 1 }> = Table(UnsafeCell::new({
    let mut table = [const { END }; <Function as Code>::ALL.len() + 1];
    let mut i = 0;
    while i < <Function as Code>::ALL.len() {
        let function = <Function as Code>::ALL[i];
        table[i] = entry(sys::ERR_PACK(0, function.number(), 0), function.text());
        i += 1;
    }
    table
}));

static REASONS: Table<{ <Reason as Code>::ALL.len() + 1 }> = Table(UnsafeCell::new({
    let mut table = [const { END }; <Reason as Code>::ALL.len() + 1];
    let mut i = 0;
    while i < <Reason as Code>::ALL.len() {
        let reason = <Reason as Code>::ALL[i];
        table[i] = entry(sys::ERR_PACK(0, 0, reason.number()), reason.text());
        i += 1;
    }
    table
}));

static NAME: Table<2> = Table(UnsafeCell::new([END, END]));

/// Gives our library its number and OpenSSL our texts. May be called again, before or after [`unload_strings`].
pub(crate) fn load_strings() -> Result<(), Error> {
    let mut library = LIBRARY.load(Ordering::Acquire);
    if library == 0 {
        // SAFETY: takes OpenSSL's own lock.
        library = unsafe { sys::ERR_get_next_error_library() };
        LIBRARY.store(library, Ordering::Release);
    }
    // SAFETY: bind runs once at a time (see `Table`). The tables end with a zero entry and live as long as the process,
    // since the library is never unmapped. The name goes under number 0: it is complete as it is.
    let loaded = unsafe {
        *NAME.0.get() = [entry(sys::ERR_PACK(library, 0, 0), c"engNTRU"), END];
        #[cfg(openssl1)]
        let functions = sys::ERR_load_strings(library, FUNCTIONS.0.get().cast()) == 1;
        #[cfg(openssl3)]
        let functions = true;
        functions
            && sys::ERR_load_strings(library, REASONS.0.get().cast()) == 1
            && sys::ERR_load_strings(0, NAME.0.get().cast()) == 1
    };
    if loaded { Ok(()) } else { Err(Error::new(Reason::Libcrypto).with("ERR_load_strings")) }
}

/// Takes the texts back.
pub(crate) fn unload_strings() {
    let library = LIBRARY.load(Ordering::Acquire);
    // SAFETY: as in `load_strings`; removing what was not loaded does nothing.
    unsafe {
        #[cfg(openssl1)]
        sys::ERR_unload_strings(library, FUNCTIONS.0.get().cast());
        sys::ERR_unload_strings(library, REASONS.0.get().cast());
        sys::ERR_unload_strings(0, NAME.0.get().cast());
    }
}
