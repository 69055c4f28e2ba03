//! References to what C owns or will own: borrowed for one call, or owned until handed over.

use std::ffi::{c_int, c_uchar, c_void};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

pub(crate) use engntru_common::lent::{Output, bytes};

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
