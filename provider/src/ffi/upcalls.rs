//! What the core offers to providers: errors, its parameters, objects, BIOs.

use std::ffi::{CStr, CString, c_int, c_void};
use std::panic::Location;
use std::{mem, ptr};

use super::params::{Value, array};
use super::sys::{self, OSSL_CORE_BIO, OSSL_CORE_HANDLE, OSSL_DISPATCH};
use crate::error::{Error, Function, Reason};

/// The core's handle of this provider, and its functions. Objects of the provider keep a copy: the core lives longer.
#[derive(Clone, Copy)]
pub(crate) struct Core {
    handle: *const OSSL_CORE_HANDLE,
    get_params: sys::core_get_params,
    new_error: sys::core_new_error,
    set_error_debug: sys::core_set_error_debug,
    vset_error: sys::core_vset_error,
    obj_create: sys::core_obj_create,
    read: sys::BIO_read_ex,
    write: sys::BIO_write_ex,
}

// SAFETY: the core's functions may be called from any thread, and the handle is only ever handed to them.
unsafe impl Send for Core {}
// SAFETY: as above.
unsafe impl Sync for Core {}

impl Core {
    /// Reads the core's table; `None` if it lacks a function that every OpenSSL from 3.0 on has.
    ///
    /// # Safety
    /// `table` must be the table that the core gave with `handle`.
    pub(crate) unsafe fn read_table(handle: *const OSSL_CORE_HANDLE, table: *const OSSL_DISPATCH) -> Option<Self> {
        let find = |number: c_int| {
            let mut entry = table;
            // SAFETY: the table ends with number 0.
            while let Some(function) = unsafe { entry.as_ref() }.filter(|entry| entry.function_id != 0) {
                if function.function_id == number {
                    return function.function;
                }
                // SAFETY: as above.
                entry = unsafe { entry.add(1) };
            }
            None
        };
        // SAFETY: the number tells the type of a function (openssl/core_dispatch.h).
        unsafe {
            Some(Self {
                handle,
                get_params: mem::transmute::<sys::AnyFn, sys::core_get_params>(find(sys::OSSL_FUNC_CORE_GET_PARAMS)?),
                new_error: mem::transmute::<sys::AnyFn, sys::core_new_error>(find(sys::OSSL_FUNC_CORE_NEW_ERROR)?),
                set_error_debug: mem::transmute::<sys::AnyFn, sys::core_set_error_debug>(find(
                    sys::OSSL_FUNC_CORE_SET_ERROR_DEBUG,
                )?),
                vset_error: mem::transmute::<sys::AnyFn, sys::core_vset_error>(find(sys::OSSL_FUNC_CORE_VSET_ERROR)?),
                obj_create: mem::transmute::<sys::AnyFn, sys::core_obj_create>(find(sys::OSSL_FUNC_CORE_OBJ_CREATE)?),
                read: mem::transmute::<sys::AnyFn, sys::BIO_read_ex>(find(sys::OSSL_FUNC_BIO_READ_EX)?),
                write: mem::transmute::<sys::AnyFn, sys::BIO_write_ex>(find(sys::OSSL_FUNC_BIO_WRITE_EX)?),
            })
        }
    }

    /// Puts an entry into the calling thread's error queue.
    #[track_caller]
    pub(crate) fn raise(self, function: Function, error: &Error) {
        let line = c_int::try_from(Location::caller().line()).unwrap_or(0);
        let reason = u32::try_from(error.reason().number()).unwrap_or(0);
        // The detail is the format itself, so nothing in it may ask for an argument.
        let detail = error.detail().and_then(|detail| CString::new(detail.replace('%', "%%")).ok());
        let format = detail.as_ref().map_or(ptr::null(), |detail| detail.as_ptr());
        // A va_list of no arguments: the core's printf may copy it, and finds nothing to fetch from it.
        let mut arguments = [0u64; 4];
        // SAFETY: the functions touch the calling thread's queue only; the strings are constants, but for the format, which
        // is expanded during the call.
        unsafe {
            (self.new_error)(self.handle);
            (self.set_error_debug)(self.handle, c"ntruprime".as_ptr(), line, function.text().as_ptr());
            (self.vset_error)(self.handle, reason, format, arguments.as_mut_ptr().cast::<c_void>());
        }
    }

    /// The value of a line of the provider's section of openssl.cnf; `None` if there is no such line.
    pub(crate) fn setting(self, name: &CStr) -> Option<String> {
        let mut value: *const std::ffi::c_char = ptr::null();
        let mut params = array([(name, Value::Utf8Ptr(&mut value))]);
        // SAFETY: the array and the place that it names live through the call. What is put there belongs to the core, and stays
        // while the provider does.
        unsafe {
            if (self.get_params)(self.handle, params.as_mut_ptr()) != 1 || value.is_null() {
                return None;
            }
            Some(CStr::from_ptr(value).to_string_lossy().into_owned())
        }
    }

    /// Makes an object known by its name, if it is not.
    ///
    /// Errors: [`Reason::ForeignObject`] if the name belongs to another object.
    pub(crate) fn create_object(self, oid: &CStr, name: &CStr) -> Result<(), Error> {
        // SAFETY: constant strings, which the core copies.
        let known = unsafe { (self.obj_create)(self.handle, oid.as_ptr(), name.as_ptr(), name.as_ptr()) == 1 };
        let refused = || Error::new(Reason::ForeignObject).with(name.to_string_lossy());
        if known { Ok(()) } else { Err(refused()) }
    }

    /// Writes all of `bytes`.
    ///
    /// Errors: [`Reason::Libcrypto`].
    ///
    /// # Safety
    /// `bio` must be a live BIO of this core.
    pub(crate) unsafe fn write_all(self, bio: *mut OSSL_CORE_BIO, mut bytes: &[u8]) -> Result<(), Error> {
        while !bytes.is_empty() {
            let mut written = 0;
            // SAFETY: the caller's contract, and `bytes` is readable.
            let ok = unsafe { (self.write)(bio, bytes.as_ptr().cast(), bytes.len(), &mut written) };
            if ok != 1 || written == 0 {
                return Err(Error::new(Reason::Libcrypto).with("BIO_write_ex"));
            }
            bytes = &bytes[written.min(bytes.len())..];
        }
        Ok(())
    }

    /// Fills `out`; false if the BIO ends before.
    ///
    /// # Safety
    /// `bio` must be a live BIO of this core.
    pub(crate) unsafe fn read_exact(self, bio: *mut OSSL_CORE_BIO, mut out: &mut [u8]) -> bool {
        while !out.is_empty() {
            let mut got = 0;
            // SAFETY: the caller's contract, and `out` is writable.
            let ok = unsafe { (self.read)(bio, out.as_mut_ptr().cast(), out.len(), &mut got) };
            if ok != 1 || got == 0 {
                return false;
            }
            out = &mut out[got..];
        }
        true
    }
}
