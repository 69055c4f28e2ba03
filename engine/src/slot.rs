//! Values that threads share without a lock: a child forked at any moment finds them whole, and waits for nobody.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A place for one value: put in, and taken out once.
pub(crate) struct Slot<T: Send>(AtomicPtr<T>);

impl<T: Send> Slot<T> {
    pub(crate) const fn empty() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// Puts a value into the place; what was there is dropped.
    pub(crate) fn put(&self, value: T) {
        drop(self.exchange(Box::into_raw(Box::new(value))));
    }

    /// Takes the value out, if there is one.
    pub(crate) fn take(&self) -> Option<T> {
        self.exchange(ptr::null_mut()).map(|value| *value)
    }

    /// Drops the value, if there is one.
    pub(crate) fn clear(&self) {
        drop(self.take());
    }

    fn exchange(&self, new: *mut T) -> Option<Box<T>> {
        let old = self.0.swap(new, Ordering::AcqRel);
        // SAFETY: what is not null came from a box, and the exchange gave it to this thread alone.
        (!old.is_null()).then(|| unsafe { Box::from_raw(old) })
    }
}

impl<T: Send> Drop for Slot<T> {
    fn drop(&mut self) {
        self.clear();
    }
}

/// A value that may be replaced while others still look at it: what was replaced lives as long as the whole.
pub(crate) struct Replaceable<T>(AtomicPtr<Version<T>>);

struct Version<T> {
    value: T,
    previous: *mut Version<T>,
}

impl<T> Replaceable<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(AtomicPtr::new(Box::into_raw(Box::new(Version { value, previous: ptr::null_mut() }))))
    }

    /// The value.
    pub(crate) fn get(&self) -> &T {
        // SAFETY: the pointer is never null, and versions are freed only with `self`, which is borrowed.
        unsafe { &(*self.0.load(Ordering::Acquire)).value }
    }

    /// Replaces the value.
    pub(crate) fn set(&self, value: T) {
        let new = Box::into_raw(Box::new(Version { value, previous: self.0.load(Ordering::Acquire) }));
        loop {
            // SAFETY: nobody else knows the new version yet.
            let previous = unsafe { (*new).previous };
            match self.0.compare_exchange(previous, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                // SAFETY: as above; it is still unknown to others.
                Err(current) => unsafe { (*new).previous = current },
            }
        }
    }
}

impl<T> Drop for Replaceable<T> {
    fn drop(&mut self) {
        let mut version = *self.0.get_mut();
        while !version.is_null() {
            // SAFETY: each version came from a box and is in the list once; nobody borrows it any more.
            version = unsafe { Box::from_raw(version) }.previous;
        }
    }
}

// SAFETY: values go from one thread to another, and shared ones are looked at by many.
unsafe impl<T: Send + Sync> Send for Replaceable<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Replaceable<T> {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    #[test]
    fn a_value_is_taken_once_and_dropped_once() {
        let value = Arc::new(());
        let slot = Slot::empty();
        assert!(slot.take().is_none());
        slot.put(Arc::clone(&value));
        slot.put(Arc::clone(&value));
        assert_eq!(Arc::strong_count(&value), 2);
        assert!(slot.take().is_some());
        assert!(slot.take().is_none());
        slot.put(Arc::clone(&value));
        drop(slot);
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn what_is_replaced_can_be_looked_at_until_the_end() {
        let value = Arc::new(());
        let place = Replaceable::new((0, Arc::clone(&value)));
        let first = place.get();
        thread::scope(|scope| {
            for i in 1..=4 {
                let (place, value) = (&place, &value);
                scope.spawn(move || (0..100).for_each(|_| place.set((i, Arc::clone(value)))));
            }
        });
        assert_eq!(first.0, 0);
        assert_ne!(place.get().0, 0);
        assert_eq!(Arc::strong_count(&value), 402);
        drop(place);
        assert_eq!(Arc::strong_count(&value), 1);
    }
}
