//! The two functions that OpenSSL looks up in the library, and the callbacks of the ENGINE's life.
//!
//! Order of bind: the right libcrypto, error texts, objects, method tables, then the ENGINE's fields. A bind that fails half
//! way takes everything back, for OpenSSL closes the library then and may try again in the same process. Loading makes no
//! key, starts no thread and reads no configuration: it runs inside OpenSSL's once-lock for the configuration.

use std::ffi::{CStr, c_char, c_int, c_long, c_ulong, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::Ordering;

use engntru_common::guard::silence_panics;

use crate::error::{self, Error, Function, Reason};
use crate::ffi::guard::guard;
use crate::ffi::returns::{Convention, Done, Found, Number};
use crate::ffi::sys;
use crate::{commands, state};

const ENGINE_ID: &CStr = c"engntru";
const ENGINE_NAME: &CStr = c"engNTRU: Streamlined NTRU Prime (sntrup761, sntrup857)";

/// OPENSSL_VERSION_NUMBER of the headers that the engine was built with.
const BUILT_FOR: c_ulong = parse(env!("ENGNTRU_OPENSSL_VERSION_NUMBER"));

const fn parse(digits: &str) -> c_ulong {
    match c_ulong::from_str_radix(digits, 10) {
        Ok(number) => number,
        Err(_) => panic!("build.rs writes a decimal number"),
    }
}

/// "1.1.1" and "3" are series: inside one, the library interface stays.
const fn series(version: c_ulong) -> c_ulong {
    if version >> 28 == 1 { version >> 12 } else { version >> 28 }
}

/// First question of the loader: does the library speak its version of the engine interface? 0 is no.
///
/// It is the same number in OpenSSL 1.1.1 and 3.x, so it is also looked whether the program's libcrypto is of the series
/// that the engine was built for. Nothing of libcrypto is used here but a function that returns a constant.
///
/// # Safety
/// To be called by OpenSSL.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn v_check(version: c_ulong) -> c_ulong {
    if version < sys::OSSL_DYNAMIC_OLDEST {
        return 0;
    }
    // SAFETY: the function takes nothing and returns a constant. The name is looked for in the program first; the engine's own
    // reference leads to the libcrypto it was linked with, which need not be the same.
    let running = unsafe {
        let function = libc::dlsym(libc::RTLD_DEFAULT, c"OpenSSL_version_num".as_ptr());
        if function.is_null() {
            sys::OpenSSL_version_num()
        } else {
            mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_ulong>(function)()
        }
    };
    if series(running) != series(BUILT_FOR) {
        complain(&format!(
            "built for OpenSSL {}, but this program runs OpenSSL {}: load the engine that was built for it",
            dotted(BUILT_FOR),
            dotted(running)
        ));
        return 0;
    }
    sys::OSSL_DYNAMIC_VERSION
}

/// Second call of the loader: fills the ENGINE. 1 is success.
///
/// `id` is NULL, a name or a path, depending on how the engine was found; it does not matter.
///
/// # Safety
/// To be called by OpenSSL with a new ENGINE.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn bind_engine(
    e: *mut sys::ENGINE,
    _id: *const c_char,
    fns: *const sys::dynamic_fns,
) -> c_int {
    // SAFETY: OpenSSL gives its structure, and compares nothing itself.
    let ours = unsafe { fns.as_ref().is_some_and(|fns| fns.static_state == sys::ENGINE_get_static_state()) };
    if !ours {
        // There are two libcryptos, so our error queue is not the program's.
        complain("this program uses another copy of libcrypto than the one that the engine is linked with");
        return Done::FAILED;
    }
    silence_panics();
    // SAFETY: `e` is the new ENGINE.
    guard(Function::BindEngine, || unsafe { bind(e) })
}

/// # Safety
/// `e` must be a new ENGINE.
unsafe fn bind(e: *mut sys::ENGINE) -> Result<Done, Error> {
    if e.is_null() {
        return Err(Error::new(Reason::NullArgument).with("the ENGINE is NULL"));
    }
    if state::is_bound() {
        return Err(Error::new(Reason::AlreadyBound));
    }
    let undo = Undo;
    error::load_strings()?;
    state::build()?;
    // SAFETY: the ENGINE is live; it keeps pointers to the strings, the table and the functions, all of which stay for the life
    // of the process.
    let set = unsafe {
        sys::ENGINE_set_id(e, ENGINE_ID.as_ptr()) == 1
            && sys::ENGINE_set_name(e, ENGINE_NAME.as_ptr()) == 1
            && sys::ENGINE_set_init_function(e, init) == 1
            && sys::ENGINE_set_finish_function(e, finish) == 1
            && sys::ENGINE_set_destroy_function(e, destroy) == 1
            && sys::ENGINE_set_ctrl_function(e, ctrl) == 1
            && sys::ENGINE_set_cmd_defns(e, commands::definitions()) == 1
            && sys::ENGINE_set_pkey_meths(e, pkey_meths) == 1
            && sys::ENGINE_set_pkey_asn1_meths(e, pkey_asn1_meths) == 1
    };
    if !set {
        return Err(Error::new(Reason::Libcrypto).with("ENGINE_set_…"));
    }
    mem::forget(undo);
    Ok(Done)
}

/// Takes back what a bind did, when it is dropped: on an error as on a panic.
///
/// The error texts stay, so that the program can print why the load was refused; they lie in the library, which is never
/// unmapped, and the next bind loads them again.
struct Undo;

impl Drop for Undo {
    fn drop(&mut self) {
        state::abandon();
    }
}

/// A functional reference is about to be given out. Runs under OpenSSL's engine lock: no ENGINE_ function may be called.
unsafe extern "C" fn init(_: *mut sys::ENGINE) -> c_int {
    guard(Function::Init, || Ok(Done))
}

/// The last functional reference is gone. The ENGINE may be initialised again, so the stocks stay, with their thread.
unsafe extern "C" fn finish(_: *mut sys::ENGINE) -> c_int {
    guard(Function::Finish, || Ok(Done))
}

/// The ENGINE is about to be freed; its method tables already are.
unsafe extern "C" fn destroy(_: *mut sys::ENGINE) -> c_int {
    guard(Function::Destroy, || {
        state::forget();
        error::unload_strings();
        Ok(Done)
    })
}

unsafe extern "C" fn ctrl(
    _: *mut sys::ENGINE,
    command: c_int,
    number: c_long,
    text: *mut c_void,
    _: Option<unsafe extern "C" fn()>,
) -> c_int {
    // SAFETY: the caller of ENGINE_ctrl follows the flags in our table of commands.
    guard(Function::Ctrl, || unsafe { commands::execute(command, number, text) })
}

unsafe extern "C" fn pkey_meths(
    _: *mut sys::ENGINE,
    out: *mut *mut sys::EVP_PKEY_METHOD,
    nids: *mut *const c_int,
    nid: c_int,
) -> c_int {
    // SAFETY: see `serve`.
    unsafe { serve(Function::PkeyMeths, out, nids, || Some(state::row_of(nid)?.pkey_method.load(Ordering::Acquire))) }
}

unsafe extern "C" fn pkey_asn1_meths(
    _: *mut sys::ENGINE,
    out: *mut *mut sys::EVP_PKEY_ASN1_METHOD,
    nids: *mut *const c_int,
    nid: c_int,
) -> c_int {
    // SAFETY: see `serve`.
    unsafe {
        serve(Function::PkeyAsn1Meths, out, nids, || Some(state::row_of(nid)?.asn1_method.load(Ordering::Acquire)))
    }
}

/// Both uses of a method callback: with `out` NULL it lists the NIDs, else it looks one up.
///
/// Lookups always write `*out`, since OpenSSL reads it even after a 0 (ENGINE_pkey_asn1_find_str). They run under OpenSSL's
/// engine lock.
///
/// # Safety
/// `out` must be NULL or writable; if it is NULL, `nids` must be writable.
unsafe fn serve<T>(
    function: Function,
    out: *mut *mut T,
    nids: *mut *const c_int,
    look_up: impl FnOnce() -> Option<*mut T>,
) -> c_int {
    // SAFETY: the caller's contract.
    match unsafe { (out.as_mut(), nids.as_mut()) } {
        (Some(out), _) => {
            *out = ptr::null_mut();
            guard(function, || {
                *out = look_up().unwrap_or(ptr::null_mut());
                Ok(Found(!out.is_null()))
            })
        }
        (None, Some(nids)) => guard(function, || {
            let (list, count) = state::nids();
            *nids = list;
            Ok(Number(count))
        }),
        (None, None) => guard(function, || Err::<Done, _>(Error::new(Reason::NullArgument))),
    }
}

fn dotted(version: c_ulong) -> String {
    format!(
        "{}.{}.{}",
        version >> 28,
        (version >> 20) & 0xff,
        (version >> if version >> 28 == 1 { 12 } else { 4 }) & 0xff
    )
}

/// One line on standard error, for the two refusals that cannot reach the program's error queue.
///
/// OpenSSL 1.1.1 ignores engines that do not load from openssl.cnf, so this may be all that a user sees.
fn complain(text: &str) {
    let line = format!("engntru: not loaded: {text}\n");
    // SAFETY: `line` is readable for its length. There is nothing to be done if nobody listens.
    unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
}
