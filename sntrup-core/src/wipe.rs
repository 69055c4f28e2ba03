//! Memory for secrets: on the heap, so that a move leaves no copy, and wiped when dropped.

use std::hint::black_box;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

mod pool;

use crate::error::Error;
use pool::Piece;

/// Numbers, and arrays of them: what can be made of zeros and forgotten without a destructor.
///
/// Public only because associated types of `Params` need it; it cannot be named outside the crate.
///
/// # Safety
/// All bytes zero is a valid value, as is any other that the type's own code writes; there is no destructor, and the
/// alignment is at most [`pool::ALIGNMENT`].
#[allow(unsafe_code)]
pub unsafe trait Plain: Copy + Send + Sync + 'static {}

macro_rules! plain {
    ($($type:ty),*) => {$(
        #[allow(unsafe_code)]
        // SAFETY: an integer has all these properties.
        unsafe impl Plain for $type {}
    )*};
}

plain!(u8, i16, u16, u32, u64);

#[allow(unsafe_code)]
// SAFETY: the properties of the elements are those of the array.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// Array of a length that a parameter set fixes; stands in for `[Item; LEN]` in generic code.
///
/// Public only because associated types of `Params` need it; it cannot be named outside the crate.
pub trait Array: Plain {
    /// Type of the elements.
    type Item: Plain;
    /// Number of elements.
    const LEN: usize;
    /// The elements.
    fn as_slice(&self) -> &[Self::Item];
    /// The elements, to be written.
    fn as_mut_slice(&mut self) -> &mut [Self::Item];
}

impl<T: Plain, const N: usize> Array for [T; N] {
    type Item = T;
    const LEN: usize = N;

    #[inline(always)]
    fn as_slice(&self) -> &[T] {
        self
    }

    #[inline(always)]
    fn as_mut_slice(&mut self) -> &mut [T] {
        self
    }
}

/// Overwrites with zeros. Volatile stores, one an element, would take longer than what made the elements; that the compiler
/// must take the memory to be read afterwards keeps the stores as well.
pub(crate) fn wipe<T: Plain>(items: &mut [T]) {
    #[allow(unsafe_code)]
    // SAFETY: the slice is exclusively borrowed, and zeros are valid elements.
    unsafe {
        items.as_mut_ptr().write_bytes(0, items.len());
    }
    black_box(items);
}

/// Secret elements on the heap, wiped when dropped. They have no Debug and no Clone.
pub(crate) struct SecretSlice<T: Plain> {
    piece: Piece,
    len: usize,
    elements: PhantomData<T>,
}

impl<T: Plain> SecretSlice<T> {
    /// `len` zeros.
    ///
    /// # Errors
    /// [`Error::Memory`] if there is no room for them.
    pub(crate) fn try_zeroed(len: usize) -> Result<Self, Error> {
        const { assert!(align_of::<T>() <= pool::ALIGNMENT) };
        let bytes = len.saturating_mul(size_of::<T>());
        let piece = Piece::zeroed(bytes).ok_or(Error::Memory { bytes })?;
        Ok(Self { piece, len, elements: PhantomData })
    }

    /// `len` zeros, for few kilobytes: if there is no memory even for those, it panics, so that a caller who cannot afford to
    /// end with the process can catch that.
    pub(crate) fn zeroed(len: usize) -> Self {
        Self::try_zeroed(len).unwrap_or_else(|error| panic!("{error}"))
    }
}

#[allow(unsafe_code)]
impl<T: Plain> Deref for SecretSlice<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: `zeroed` asked for the bytes of `len` elements, zeros or what was written since are valid ones, and the
        // piece belongs to nobody else.
        unsafe { std::slice::from_raw_parts(self.piece.start().cast(), self.len) }
    }
}

#[allow(unsafe_code)]
impl<T: Plain> DerefMut for SecretSlice<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`.
        unsafe { std::slice::from_raw_parts_mut(self.piece.start().cast(), self.len) }
    }
}

impl<T: Plain> Drop for SecretSlice<T> {
    fn drop(&mut self) {
        wipe(self);
    }
}

/// A secret array on the heap, wiped when dropped. It has no Debug and no Clone.
pub(crate) struct Secret<A: Array>(SecretSlice<A>);

impl<A: Array> Secret<A> {
    /// An array of zeros.
    pub(crate) fn zeroed() -> Self {
        Self(SecretSlice::zeroed(1))
    }
}

impl<A: Array> Deref for Secret<A> {
    type Target = A;

    #[inline(always)]
    fn deref(&self) -> &A {
        &self.0[0]
    }
}

impl<A: Array> DerefMut for Secret<A> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut A {
        &mut self.0[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_begin_as_zeros_wherever_their_memory_was_before() {
        for len in (0..200).chain([1000, 4096, 8191, 8192, 8193, 50_000]) {
            for _ in 0..3 {
                let mut slice = SecretSlice::<u16>::zeroed(len);
                assert_eq!(slice.len(), len);
                assert!(slice.iter().all(|&x| x == 0));
                slice.fill(0xabcd);
                assert!(slice.iter().all(|&x| x == 0xabcd));
            }
        }
    }

    #[test]
    fn slices_in_use_at_once_do_not_overlap() {
        let mut slices: Vec<SecretSlice<u64>> = (0..100).map(|i| SecretSlice::zeroed((i & 31) * 10)).collect();
        for (i, slice) in slices.iter_mut().enumerate() {
            assert!(slice.iter().all(|&x| x == 0));
            slice.fill(i as u64);
        }
        for (i, slice) in slices.iter().enumerate() {
            assert!(slice.iter().all(|&x| x == i as u64));
        }
    }

    #[test]
    fn a_secret_may_die_in_another_thread() {
        let secrets: Vec<Secret<[u8; 1000]>> = (0..50).map(|_| Secret::zeroed()).collect();
        std::thread::spawn(move || {
            drop(secrets);
            assert!(Secret::<[u8; 1000]>::zeroed().iter().all(|&x| x == 0));
        })
        .join()
        .unwrap();
    }
}
