//! OSSL_PARAM: arrays of named values, read, answered and made.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::AtomicPtr;

use super::sys::{self, OSSL_PARAM};
use crate::error::{Error, Reason};

/// What OSSL_PARAM_UNMODIFIED is: nobody has answered yet.
const UNMODIFIED: usize = usize::MAX;

const END: OSSL_PARAM =
    OSSL_PARAM { key: ptr::null(), data_type: 0, data: ptr::null_mut(), data_size: 0, return_size: 0 };

/// An array that says which parameters there are and of which types, for `gettable` and `settable` functions.
pub(crate) struct Description<const N: usize>([OSSL_PARAM; N]);

// SAFETY: the array and what it points to are constant.
unsafe impl<const N: usize> Sync for Description<N> {}

impl<const N: usize> Description<N> {
    /// From names and types; the last pair is left for the end mark, whatever it says.
    pub(crate) const fn new(names: [(&'static CStr, c_uint); N]) -> Self {
        let mut params = [END; N];
        let mut i = 0;
        while i + 1 < N {
            params[i].key = names[i].0.as_ptr();
            params[i].data_type = names[i].1;
            params[i].return_size = UNMODIFIED;
            i += 1;
        }
        Self(params)
    }

    /// For C.
    pub(crate) const fn as_ptr(&'static self) -> *const OSSL_PARAM {
        self.0.as_ptr()
    }
}

/// The place of the end mark in a [`Description`].
pub(crate) const LAST: (&CStr, c_uint) = (c"", 0);

/// A value of an array that is made here.
pub(crate) enum Value<'v> {
    /// A signed integer.
    Int(&'v c_int),
    /// An unsigned integer.
    Uint(&'v c_uint),
    /// Text that the receiver copies.
    Utf8(&'v CStr),
    /// Bytes that the receiver copies.
    Octets(&'v [u8]),
    /// The address of an object, which the receiver may take away, as bytes.
    Place(&'v AtomicPtr<c_void>),
    /// A place for the address of text that stays with the answerer.
    Utf8Ptr(&'v mut *const c_char),
}

/// An array for C, which reads the values, or writes those that are places. Borrows what the values borrow.
pub(crate) struct Array<'v> {
    params: Vec<OSSL_PARAM>,
    lent: PhantomData<&'v mut ()>,
}

impl Array<'_> {
    /// For C to read.
    pub(crate) fn as_ptr(&self) -> *const OSSL_PARAM {
        self.params.as_ptr()
    }

    /// For C to write to.
    pub(crate) fn as_mut_ptr(&mut self) -> *mut OSSL_PARAM {
        self.params.as_mut_ptr()
    }
}

/// Makes an array.
pub(crate) fn array<'v>(values: impl IntoIterator<Item = (&'v CStr, Value<'v>)>) -> Array<'v> {
    let mut params: Vec<_> = values
        .into_iter()
        .map(|(key, value)| {
            let (data_type, data, data_size) = match value {
                Value::Int(n) => {
                    (sys::OSSL_PARAM_INTEGER, ptr::from_ref(n).cast::<c_void>().cast_mut(), size_of_val(n))
                }
                Value::Uint(n) => {
                    (sys::OSSL_PARAM_UNSIGNED_INTEGER, ptr::from_ref(n).cast::<c_void>().cast_mut(), size_of_val(n))
                }
                Value::Utf8(text) => {
                    (sys::OSSL_PARAM_UTF8_STRING, text.as_ptr().cast::<c_void>().cast_mut(), text.count_bytes())
                }
                Value::Octets(bytes) => {
                    (sys::OSSL_PARAM_OCTET_STRING, bytes.as_ptr().cast::<c_void>().cast_mut(), bytes.len())
                }
                Value::Place(place) => {
                    (sys::OSSL_PARAM_OCTET_STRING, place.as_ptr().cast::<c_void>(), size_of::<*mut c_void>())
                }
                Value::Utf8Ptr(place) => (sys::OSSL_PARAM_UTF8_PTR, ptr::from_mut(place).cast::<c_void>(), 0),
            };
            OSSL_PARAM { key: key.as_ptr(), data_type, data, data_size, return_size: UNMODIFIED }
        })
        .collect();
    params.push(END);
    Array { params, lent: PhantomData }
}

/// Values that C gives us to read.
#[derive(Clone, Copy)]
pub(crate) struct Given<'call> {
    first: *const OSSL_PARAM,
    lent: PhantomData<&'call OSSL_PARAM>,
}

impl<'call> Given<'call> {
    /// # Safety
    /// `first` must be NULL or an array that ends with a NULL key, which stays as it is for `'call`.
    pub(crate) unsafe fn new(first: *const OSSL_PARAM) -> Self {
        Self { first, lent: PhantomData }
    }

    fn find(self, key: &CStr) -> Option<&'call OSSL_PARAM> {
        let mut at = self.first;
        // SAFETY: by the contract of `new`.
        unsafe {
            while let Some(param) = at.as_ref().filter(|param| !param.key.is_null()) {
                if CStr::from_ptr(param.key) == key {
                    return Some(param);
                }
                at = at.add(1);
            }
        }
        None
    }

    /// The bytes of that name, if they are given.
    ///
    /// Errors: [`Reason::BadEncoding`] if they are of another type.
    pub(crate) fn octets(self, key: &CStr) -> Result<Option<&'call [u8]>, Error> {
        let Some(param) = self.find(key) else { return Ok(None) };
        if param.data_type != sys::OSSL_PARAM_OCTET_STRING {
            return Err(Error::new(Reason::BadEncoding).with(format!("{} must be bytes", key.to_string_lossy())));
        }
        // SAFETY: the parameter says how many bytes there are.
        Ok(Some(unsafe { super::handles::bytes(param.data.cast(), param.data_size) }))
    }

    /// The text of that name, if it is given.
    ///
    /// Errors: [`Reason::BadEncoding`] if it is of another type.
    pub(crate) fn text(self, key: &CStr) -> Result<Option<&'call [u8]>, Error> {
        let Some(param) = self.find(key) else { return Ok(None) };
        if param.data_type != sys::OSSL_PARAM_UTF8_STRING {
            return Err(Error::new(Reason::BadEncoding).with(format!("{} must be text", key.to_string_lossy())));
        }
        // SAFETY: the parameter says how many bytes there are; a NUL that is counted in ends the text.
        let text = unsafe { super::handles::bytes(param.data.cast(), param.data_size) };
        Ok(Some(text.split(|&byte| byte == 0).next().unwrap_or_default()))
    }
}

/// Values that C asks us for.
pub(crate) struct Asked<'call> {
    first: *mut OSSL_PARAM,
    lent: PhantomData<&'call mut OSSL_PARAM>,
}

impl Asked<'_> {
    /// # Safety
    /// `first` must be NULL or an array that ends with a NULL key, with places for the values, which is ours for the call.
    pub(crate) unsafe fn new(first: *mut OSSL_PARAM) -> Self {
        Self { first, lent: PhantomData }
    }

    fn find(&mut self, key: &CStr) -> Option<&mut OSSL_PARAM> {
        let mut at = self.first;
        // SAFETY: by the contract of `new`.
        unsafe {
            while let Some(param) = at.as_mut().filter(|param| !param.key.is_null()) {
                if CStr::from_ptr(param.key) == key {
                    return at.as_mut();
                }
                at = at.add(1);
            }
        }
        None
    }

    /// Answers with a number that is not negative, if it is asked for.
    ///
    /// Errors: [`Reason::BadEncoding`] if the place is not one for a number of 32 or 64 bits.
    pub(crate) fn number(&mut self, key: &CStr, value: u32) -> Result<(), Error> {
        let Some(param) = self.find(key) else { return Ok(()) };
        let whole = [sys::OSSL_PARAM_INTEGER, sys::OSSL_PARAM_UNSIGNED_INTEGER].contains(&param.data_type);
        let signed_limit = value <= i32::MAX as u32;
        // SAFETY: the place has the size that the parameter says, and need not be aligned.
        unsafe {
            match param.data_size {
                _ if param.data.is_null() => param.return_size = size_of::<u32>(),
                4 if whole && signed_limit => {
                    param.data.cast::<u32>().write_unaligned(value);
                    param.return_size = 4;
                }
                8 if whole => {
                    param.data.cast::<u64>().write_unaligned(u64::from(value));
                    param.return_size = 8;
                }
                _ => {
                    let name = key.to_string_lossy();
                    return Err(Error::new(Reason::BadEncoding).with(format!("{name} is a number of 32 or 64 bits")));
                }
            }
        }
        Ok(())
    }

    /// Answers with bytes, if they are asked for; without a place, with their number.
    ///
    /// Errors: [`Reason::BufferTooSmall`], [`Reason::BadEncoding`].
    pub(crate) fn octets(&mut self, key: &CStr, value: &[u8]) -> Result<(), Error> {
        let Some(param) = self.find(key) else { return Ok(()) };
        if param.data_type != sys::OSSL_PARAM_OCTET_STRING {
            return Err(Error::new(Reason::BadEncoding).with(format!("{} is bytes", key.to_string_lossy())));
        }
        param.return_size = value.len();
        if param.data.is_null() {
            return Ok(());
        }
        if param.data_size < value.len() {
            let detail = format!("{} bytes needed, {} given", value.len(), param.data_size);
            return Err(Error::new(Reason::BufferTooSmall).with(detail));
        }
        // SAFETY: there is room, and the place is not one of ours.
        unsafe { ptr::copy_nonoverlapping(value.as_ptr(), param.data.cast(), value.len()) };
        Ok(())
    }

    /// Answers with text that C gets a copy of, if it is asked for.
    ///
    /// Errors: [`Reason::BufferTooSmall`], [`Reason::BadEncoding`].
    pub(crate) fn text(&mut self, key: &CStr, value: &str) -> Result<(), Error> {
        let Some(param) = self.find(key) else { return Ok(()) };
        if param.data_type != sys::OSSL_PARAM_UTF8_STRING {
            return Err(Error::new(Reason::BadEncoding).with(format!("{} is text", key.to_string_lossy())));
        }
        param.return_size = value.len();
        if param.data.is_null() {
            return Ok(());
        }
        if param.data_size <= value.len() {
            let detail = format!("{} bytes needed, {} given", value.len() + 1, param.data_size);
            return Err(Error::new(Reason::BufferTooSmall).with(detail));
        }
        // SAFETY: there is room for the text and its end mark.
        unsafe {
            ptr::copy_nonoverlapping(value.as_ptr(), param.data.cast(), value.len());
            param.data.cast::<u8>().add(value.len()).write(0);
        }
        Ok(())
    }

    /// Whether a value of that name is asked for.
    pub(crate) fn wants(&mut self, key: &CStr) -> bool {
        self.find(key).is_some()
    }

    /// Answers with constant text by its address, if it is asked for so.
    pub(crate) fn constant(&mut self, key: &CStr, value: &'static CStr) {
        let Some(param) = self.find(key) else { return };
        if param.data_type == sys::OSSL_PARAM_UTF8_PTR && !param.data.is_null() {
            // SAFETY: the place is one for an address.
            unsafe { param.data.cast::<*const c_char>().write_unaligned(value.as_ptr()) };
            param.return_size = value.count_bytes();
        }
    }
}
