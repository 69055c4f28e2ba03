//! Buffers that C lends for one call.

use std::ffi::c_uchar;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use crate::error::{Error, Reason};

/// Bytes that C lends for one call. NULL is an empty slice.
///
/// # Safety
/// A pointer that is not NULL must be to `len` readable bytes that nobody writes for the length of `'call`.
pub unsafe fn bytes<'call>(data: *const c_uchar, len: usize) -> &'call [u8] {
    if data.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: the caller's contract; a length over isize::MAX cannot be that of an object in memory.
    unsafe { std::slice::from_raw_parts(data, len) }
}

/// The pair (buffer, length) by which C asks for a size (buffer NULL) or for data (length says how much room there is).
#[derive(Debug)]
pub struct Output<'call> {
    data: *mut c_uchar,
    len: NonNull<usize>,
    lent: PhantomData<&'call mut [u8]>,
}

impl Output<'_> {
    /// Errors: [`Reason::NullArgument`] if there is no place for the length.
    ///
    /// # Safety
    /// `len` must be NULL or writable, and `data` NULL or `*len` writable bytes, for as long as the value is used.
    pub unsafe fn borrow(data: *mut c_uchar, len: *mut usize) -> Result<Self, Error> {
        match NonNull::new(len) {
            Some(len) => Ok(Self { data, len, lent: PhantomData }),
            None => Err(Error::new(Reason::NullArgument).with("the place for the length is NULL")),
        }
    }

    /// True if C asks for the size only.
    #[must_use]
    pub fn is_size_query(&self) -> bool {
        self.data.is_null()
    }

    /// Tells C the size.
    pub fn set_size(&mut self, size: usize) {
        // SAFETY: `len` is writable, by the contract of `borrow`.
        unsafe { self.len.write(size) }
    }

    /// Errors: [`Reason::BufferTooSmall`] unless there is room for `size` bytes.
    pub fn require(&self, size: usize) -> Result<(), Error> {
        // SAFETY: `len` is readable, by the contract of `borrow`.
        let room = unsafe { self.len.read() };
        if room < size {
            return Err(Error::new(Reason::BufferTooSmall).with(format!("{size} bytes needed, {room} given")));
        }
        Ok(())
    }

    /// The first `size` bytes of the buffer, zeroed. [`Output::set_size`] tells C that they are filled.
    ///
    /// Errors: as [`Output::require`]; [`Reason::NullArgument`] if there is no buffer.
    pub fn room(&mut self, size: usize) -> Result<&mut [u8], Error> {
        self.require(size)?;
        if self.data.is_null() {
            return Err(Error::new(Reason::NullArgument).with("the buffer is NULL"));
        }
        // SAFETY: there is a buffer with room, initialised here, and lent with this value.
        unsafe {
            ptr::write_bytes(self.data, 0, size);
            Ok(std::slice::from_raw_parts_mut(self.data, size))
        }
    }

    /// Writes `source` and its length.
    ///
    /// Errors: as [`Output::room`].
    pub fn write(&mut self, source: &[u8]) -> Result<(), Error> {
        self.room(source.len())?.copy_from_slice(source);
        self.set_size(source.len());
        Ok(())
    }
}
