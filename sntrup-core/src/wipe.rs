//! Memory for secrets: on the heap, so that a move leaves no copy, and wiped when dropped.

use std::ops::{Deref, DerefMut};
use zeroize::DefaultIsZeroes;

/// Array of a length that a parameter set fixes; stands in for `[Item; LEN]` in generic code.
///
/// Public only because associated types of `Params` need it; it cannot be named outside the crate.
pub trait Array: Send + Sync + Sized + 'static {
    /// Type of the elements.
    type Item: Copy + Default + DefaultIsZeroes + Send + Sync;
    /// Number of elements.
    const LEN: usize;
    /// An array of zeros on the heap, made without a detour over the stack.
    fn boxed() -> Box<Self>;
    /// The elements.
    fn as_slice(&self) -> &[Self::Item];
    /// The elements, to be written.
    fn as_mut_slice(&mut self) -> &mut [Self::Item];
}

impl<T: Copy + Default + DefaultIsZeroes + Send + Sync + 'static, const N: usize> Array for [T; N] {
    type Item = T;
    const LEN: usize = N;

    fn boxed() -> Box<Self> {
        match vec![T::default(); N].into_boxed_slice().try_into() {
            Ok(array) => array,
            Err(_) => unreachable!("the slice has N elements"),
        }
    }

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
pub(crate) fn wipe<T: DefaultIsZeroes>(items: &mut [T]) {
    items.fill(T::default());
    std::hint::black_box(items);
}

/// A secret array on the heap, wiped when dropped. It has no Debug and no Clone.
pub(crate) struct Secret<A: Array>(Box<A>);

impl<A: Array> Secret<A> {
    /// An array of zeros.
    pub(crate) fn zeroed() -> Self {
        Self(A::boxed())
    }
}

impl<A: Array> Deref for Secret<A> {
    type Target = A;

    #[inline(always)]
    fn deref(&self) -> &A {
        &self.0
    }
}

impl<A: Array> DerefMut for Secret<A> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut A {
        &mut self.0
    }
}

impl<A: Array> Drop for Secret<A> {
    fn drop(&mut self) {
        wipe(self.0.as_mut_slice());
    }
}
