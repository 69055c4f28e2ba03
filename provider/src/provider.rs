//! The function that OpenSSL looks up in the library, and the callbacks of a provider's life.
//!
//! Loading makes no key and starts no thread. A program may load the provider several times, in one library context or in
//! many; the stocks and the settings of the process are shared, and are reset when the last loading ends; the thread that
//! refills the stocks, where there is one, has ended then.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use engntru_common::error::Code;
use engntru_common::guard::silence_panics;
use engntru_common::settings::{backend_in_use, reset, stock_level};
use sntrup_core::{Sntrup761, Sntrup857};

use crate::algorithms;
use crate::error::{Error, Function, Reason};
use crate::ffi::guard::{Answer, Done, Nothing, guard, on};
use crate::ffi::handles::{self, Held};
use crate::ffi::params::{Asked, Description, LAST};
use crate::ffi::sys::{self, OSSL_ALGORITHM, OSSL_CALLBACK, OSSL_DISPATCH, OSSL_ITEM, OSSL_PARAM, entry};
use crate::ffi::upcalls::Core;
use crate::groups::{self, Group};
use crate::hybrid::Hybrid;
use crate::key::Key;
use crate::plain::Plain;
use crate::settings;

const NAME: &CStr = c"ntruprime: Streamlined NTRU Prime (engNTRU)";
const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => panic!("a version has no NUL byte"),
};

/// Loadings that have not ended.
static LOADINGS: AtomicUsize = AtomicUsize::new(0);

/// One loading of the provider: what OpenSSL calls the provider's context.
pub(crate) struct Provider {
    core: Core,
    groups: Vec<Group>,
}

impl Held for Provider {
    fn core(&self) -> Core {
        self.core
    }
}

impl Provider {
    /// Errors: what is wrong in openssl.cnf; [`Reason::ForeignObject`].
    fn load(core: Core) -> Result<Self, Error> {
        let provider = Self { core, groups: group_list(core)? };
        groups::require_distinct(&provider.groups)?;
        for (oid, name) in [
            (Plain::<Sntrup761>::OID, Plain::<Sntrup761>::NAME),
            (Plain::<Sntrup857>::OID, Plain::<Sntrup857>::NAME),
            (Hybrid::OID, Hybrid::NAME),
        ] {
            core.create_object(oid, name)?;
        }
        settings::apply(core)?;
        Ok(provider)
    }
}

fn group_list(core: Core) -> Result<Vec<Group>, Error> {
    let groups =
        [Group::of::<Plain<Sntrup761>>(core)?, Group::of::<Plain<Sntrup857>>(core)?, Group::of::<Hybrid>(core)?];
    Ok(groups.into_iter().flatten().collect())
}

static DISPATCH: [OSSL_DISPATCH; 7] = [
    entry!(OSSL_FUNC_PROVIDER_TEARDOWN, provider_teardown, teardown),
    entry!(OSSL_FUNC_PROVIDER_GETTABLE_PARAMS, provider_gettable_params, gettable_params),
    entry!(OSSL_FUNC_PROVIDER_GET_PARAMS, provider_get_params, get_params),
    entry!(OSSL_FUNC_PROVIDER_QUERY_OPERATION, provider_query_operation, query_operation),
    entry!(OSSL_FUNC_PROVIDER_GET_REASON_STRINGS, provider_get_reason_strings, get_reason_strings),
    entry!(OSSL_FUNC_PROVIDER_GET_CAPABILITIES, provider_get_capabilities, get_capabilities),
    sys::END,
];

/// First and only function that OpenSSL looks up. 1 is success.
///
/// OpenSSL 3 goes on in silence when a provider of openssl.cnf does not load, so the reason is printed, too.
///
/// # Safety
/// To be called by OpenSSL.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn OSSL_provider_init(
    handle: *const sys::OSSL_CORE_HANDLE,
    from_core: *const OSSL_DISPATCH,
    to_core: *mut *const OSSL_DISPATCH,
    provctx: *mut *mut c_void,
) -> c_int {
    silence_panics();
    // SAFETY: OpenSSL gives its table with its handle.
    let Some(core) = (unsafe { Core::read_table(handle, from_core) }) else { return 0 };
    guard(core, Function::Init, || {
        let provider = Provider::load(core).inspect_err(|error| {
            complain(error);
            // Settings before the wrong one were made; nobody else wants them.
            if LOADINGS.load(Ordering::Acquire) == 0 {
                reset();
            }
        })?;
        LOADINGS.fetch_add(1, Ordering::AcqRel);
        // SAFETY: OpenSSL gives places for both; it hands the context back to `teardown`.
        unsafe {
            to_core.write(DISPATCH.as_ptr());
            provctx.write(Box::into_raw(Box::new(provider)).cast());
        }
        Ok(Done)
    })
}

/// One line on standard error.
fn complain(error: &Error) {
    let reason = error.reason().text().to_string_lossy();
    let line = format!("ntruprime: not loaded: {reason}: {}\n", error.detail().unwrap_or_default());
    // SAFETY: `line` is readable for its length. There is nothing to be done if nobody listens.
    unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
}

unsafe extern "C" fn teardown(provctx: *mut c_void) {
    // SAFETY: the context of `OSSL_provider_init`, whose last use this is: OpenSSL counts those who use a provider.
    let Some(provider) = (unsafe { handles::take_back::<Provider>(provctx) }) else { return };
    guard(provider.core, Function::Teardown, || {
        if LOADINGS.fetch_sub(1, Ordering::AcqRel) == 1 {
            reset();
        }
        Ok(Nothing)
    });
}

static GETTABLE: Description<6> = Description::new([
    (c"name", sys::OSSL_PARAM_UTF8_PTR),
    (c"version", sys::OSSL_PARAM_UTF8_PTR),
    (c"status", sys::OSSL_PARAM_UNSIGNED_INTEGER),
    (c"backend-in-use", sys::OSSL_PARAM_UTF8_STRING),
    (c"stock-level", sys::OSSL_PARAM_UTF8_STRING),
    LAST,
]);

unsafe extern "C" fn gettable_params(_: *mut c_void) -> *const OSSL_PARAM {
    GETTABLE.as_ptr()
}

unsafe extern "C" fn get_params(provctx: *mut c_void, params: *mut OSSL_PARAM) -> c_int {
    // SAFETY: OpenSSL gives our context, and an array to answer in.
    unsafe {
        on(provctx, Function::GetParams, |_: &Provider| {
            let mut asked = Asked::new(params);
            asked.constant(c"name", NAME);
            asked.constant(c"version", VERSION);
            asked.number(c"status", 1)?;
            if asked.wants(c"backend-in-use") {
                asked.text(c"backend-in-use", &backend_in_use())?;
            }
            if asked.wants(c"stock-level") {
                asked.text(c"stock-level", &stock_level())?;
            }
            Ok(Done)
        })
    }
}

unsafe extern "C" fn query_operation(
    _: *mut c_void,
    operation_id: c_int,
    no_cache: *mut c_int,
) -> *const OSSL_ALGORITHM {
    // SAFETY: OpenSSL gives a place, or NULL.
    if let Some(no_cache) = unsafe { no_cache.as_mut() } {
        *no_cache = 0;
    }
    algorithms::of(operation_id)
}

/// The reasons in OpenSSL's form.
struct Reasons([OSSL_ITEM; <Reason as Code>::ALL.len() + 1]);

// SAFETY: the table and its strings are constant.
unsafe impl Sync for Reasons {}

static REASONS: Reasons = Reasons({
    let mut table = [const { OSSL_ITEM { id: 0, ptr: std::ptr::null() } }; <Reason as Code>::ALL.len() + 1];
    let mut i = 0;
    while i < <Reason as Code>::ALL.len() {
        let reason = <Reason as Code>::ALL[i];
        table[i] = OSSL_ITEM { id: reason.number().unsigned_abs(), ptr: reason.text().as_ptr().cast() };
        i += 1;
    }
    table
});

unsafe extern "C" fn get_reason_strings(_: *mut c_void) -> *const OSSL_ITEM {
    REASONS.0.as_ptr()
}

unsafe extern "C" fn get_capabilities(
    provctx: *mut c_void,
    capability: *const c_char,
    callback: Option<OSSL_CALLBACK>,
    arg: *mut c_void,
) -> c_int {
    // SAFETY: OpenSSL gives our context, a C string and a function that takes `arg`.
    unsafe {
        on(provctx, Function::GetCapabilities, |provider: &Provider| {
            let Some(tell) = callback.filter(|_| !capability.is_null()) else {
                return Err(Error::new(Reason::NullArgument));
            };
            // OpenSSL asks for other capabilities, too, of which there are none.
            let ours = CStr::from_ptr(capability).to_bytes().eq_ignore_ascii_case(b"TLS-GROUP");
            Ok(Answer(!ours || groups::tell_all(&provider.groups, tell, arg)))
        })
    }
}
