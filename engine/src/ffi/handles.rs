//! References to what C owns or will own: borrowed for one call, or owned until handed over.

use std::ffi::{c_int, c_uchar, c_void};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use super::sys;
use crate::error::{Error, Reason};

/// An EVP_PKEY that C lends for one call.
#[derive(Clone, Copy)]
pub(crate) struct Pkey<'call> {
    raw: NonNull<sys::EVP_PKEY>,
    lent: PhantomData<&'call sys::EVP_PKEY>,
}

impl Pkey<'_> {
    /// Errors: [`Reason::NullArgument`] if the pointer is NULL.
    ///
    /// # Safety
    /// A pointer that is not NULL must be to a live EVP_PKEY, for as long as the value is used. If it comes from a
    /// callback that may change the key, C must allow that, whatever `const` says.
    pub(crate) unsafe fn borrow(raw: *const sys::EVP_PKEY) -> Result<Self, Error> {
        match NonNull::new(raw.cast_mut()) {
            Some(raw) => Ok(Self { raw, lent: PhantomData }),
            None => Err(Error::new(Reason::NullArgument).with("the key is NULL")),
        }
    }

    /// The key of a context; a context for key generation has none.
    ///
    /// Errors: [`Reason::NoKey`].
    ///
    /// # Safety
    /// `ctx` must be a live EVP_PKEY_CTX, for as long as the value is used.
    pub(crate) unsafe fn of_context(ctx: *mut sys::EVP_PKEY_CTX) -> Result<Self, Error> {
        // SAFETY: the caller says that the context is live; it holds a reference to its key.
        let raw = unsafe { sys::EVP_PKEY_CTX_get0_pkey(ctx) };
        match NonNull::new(raw) {
            Some(raw) => Ok(Self { raw, lent: PhantomData }),
            None => Err(Error::new(Reason::NoKey).with("the context was made without a key")),
        }
    }

    /// The key type: a NID.
    pub(crate) fn nid(self) -> c_int {
        // SAFETY: `raw` is live, by the contract of the constructors.
        unsafe { sys::EVP_PKEY_id(self.raw.as_ptr()) }
    }

    /// The encodings that go with the key's type, NULL if it has none: they tell whose key it is.
    pub(crate) fn asn1_method(self) -> *const sys::EVP_PKEY_ASN1_METHOD {
        // SAFETY: as above; the function reads a pointer.
        unsafe { sys::EVP_PKEY_get0_asn1(self.raw.as_ptr()) }
    }

    /// What hangs on the EVP_PKEY; NULL if nothing does.
    pub(crate) fn content(self) -> *mut c_void {
        // SAFETY: as above; the function reads a pointer.
        unsafe { sys::EVP_PKEY_get0(self.raw.as_ptr()) }
    }

    /// Makes this a key of type `nid` with `content` hanging on it. On success the EVP_PKEY owns `content`.
    ///
    /// Only for an EVP_PKEY without content, or with content of another type: a second assignment of the same type
    /// makes OpenSSL forget which engine the key's methods came from, and the engine could be freed under it.
    pub(crate) fn assign(self, nid: c_int, content: *mut c_void) -> bool {
        // SAFETY: `raw` is live; the type's free callback knows what `content` is.
        unsafe { sys::EVP_PKEY_assign(self.raw.as_ptr(), nid, content) == 1 }
    }
}

/// Bytes that C lends for one call. NULL is an empty slice.
///
/// # Safety
/// A pointer that is not NULL must be to `len` readable bytes that nobody writes for the length of `'call`.
pub(crate) unsafe fn bytes<'call>(data: *const c_uchar, len: usize) -> &'call [u8] {
    if data.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: the caller's contract; a length over isize::MAX cannot be that of an object in memory.
    unsafe { std::slice::from_raw_parts(data, len) }
}

/// The pair (buffer, length) by which C asks for a size (buffer NULL) or for data (length says how much room there is).
pub(crate) struct Output<'call> {
    data: *mut c_uchar,
    len: NonNull<usize>,
    lent: PhantomData<&'call mut [u8]>,
}

impl Output<'_> {
    /// Errors: [`Reason::NullArgument`] if there is no place for the length.
    ///
    /// # Safety
    /// `len` must be NULL or writable, and `data` NULL or `*len` writable bytes, for as long as the value is used.
    pub(crate) unsafe fn borrow(data: *mut c_uchar, len: *mut usize) -> Result<Self, Error> {
        match NonNull::new(len) {
            Some(len) => Ok(Self { data, len, lent: PhantomData }),
            None => Err(Error::new(Reason::NullArgument).with("the place for the length is NULL")),
        }
    }

    /// True if C asks for the size only.
    pub(crate) fn is_size_query(&self) -> bool {
        self.data.is_null()
    }

    /// Tells C the size.
    pub(crate) fn set_size(&mut self, size: usize) {
        // SAFETY: `len` is writable, by the contract of `borrow`.
        unsafe { self.len.write(size) }
    }

    /// Errors: [`Reason::BufferTooSmall`] unless there is room for `size` bytes.
    pub(crate) fn require(&self, size: usize) -> Result<(), Error> {
        // SAFETY: `len` is readable, by the contract of `borrow`.
        let room = unsafe { self.len.read() };
        if room < size {
            return Err(Error::new(Reason::BufferTooSmall).with(format!("{size} bytes needed, {room} given")));
        }
        Ok(())
    }

    /// Writes `source` and its length, or fails as [`Output::require`] does.
    pub(crate) fn write(&mut self, source: &[u8]) -> Result<(), Error> {
        self.require(source.len())?;
        // SAFETY: `data` is not NULL for a caller that checked `is_size_query`, there is room, and a buffer that C gave us
        // to fill does not overlap one of ours.
        unsafe { ptr::copy_nonoverlapping(source.as_ptr(), self.data, source.len()) };
        self.set_size(source.len());
        Ok(())
    }
}

/// A buffer from OpenSSL's allocator, ours until [`Buffer::hand_over`]; wiped if it is dropped before.
pub(crate) struct Buffer {
    data: NonNull<c_uchar>,
    len: usize,
}

impl Buffer {
    /// A copy of `source`, which must not be empty.
    ///
    /// Errors: [`Reason::Libcrypto`] if there is no memory.
    pub(crate) fn copy_of(source: &[u8]) -> Result<Self, Error> {
        // SAFETY: plain allocation; the file name is a constant.
        let data = unsafe { sys::CRYPTO_malloc(source.len(), c"engntru".as_ptr(), 0) };
        let Some(data) = NonNull::new(data.cast::<c_uchar>()) else {
            return Err(Error::new(Reason::Libcrypto).with("out of memory"));
        };
        // SAFETY: the allocation is `source.len()` bytes long, and new.
        unsafe { ptr::copy_nonoverlapping(source.as_ptr(), data.as_ptr(), source.len()) };
        Ok(Self { data, len: source.len() })
    }

    /// The length in bytes, as C's `int`.
    pub(crate) fn len(&self) -> c_int {
        c_int::try_from(self.len).expect("keys are shorter than 2 GiB")
    }

    /// The address, for a function that takes the buffer over if it succeeds.
    pub(crate) fn as_ptr(&self) -> *mut c_uchar {
        self.data.as_ptr()
    }

    /// C owns the buffer from now on.
    pub(crate) fn hand_over(self) -> *mut c_uchar {
        std::mem::ManuallyDrop::new(self).data.as_ptr()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the buffer came from CRYPTO_malloc with this length and was not handed over.
        unsafe { sys::CRYPTO_clear_free(self.data.as_ptr().cast(), self.len, c"engntru".as_ptr(), 0) }
    }
}
