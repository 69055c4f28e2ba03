//! The stock of ready key pairs: each pair leaves once and its place is wiped at once; a forked child starts with an
//! empty stock. No thread, no thread-local, nothing generated before the first request.
//!
//! The lock is polled and not waited for in a queue: parking a thread goes through tables of the whole process and a
//! thread-local with a destructor, and a fork at the wrong moment would leave those tables locked in the child. The lock
//! is held to copy a key, or to refill, so the longest wait is that for a batch.

use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

use crate::batch::{MAX_BATCH, generate_batch};
use crate::error::Error;
use crate::fork::{Inherited, Pages, PerProcess};
use crate::keys::{KeyPair, SecretKey};
use crate::params::Params;
use crate::rng::RandomSource;

/// Number of key pairs that a [`Stock`] makes at a time unless told otherwise.
pub const DEFAULT_BATCH_SIZE: usize = 32;

/// A stock of key pairs of one parameter set, refilled in batches when it is empty and a pair is asked for.
///
/// Every pair leaves the stock exactly once. In a forked child, however it was made, the stock is empty, and the child
/// never waits for a lock that a thread of its parent held; the random source that the child passes must of course give
/// other bytes than the parent's. The stock wipes its keys when it is dropped or cleared.
pub struct Stock<P: Params> {
    shelf: PerProcess<Shelf<P>>,
    batch_size: AtomicUsize,
}

impl<P: Params> Stock<P> {
    /// An empty stock.
    pub const fn new() -> Self {
        Self { shelf: PerProcess::new(), batch_size: AtomicUsize::new(DEFAULT_BATCH_SIZE) }
    }

    /// Takes a pair out of the stock; if there is none, a batch is generated first with `rng`. Other threads wait
    /// meanwhile, so `rng` must not come back to the same stock.
    ///
    /// # Errors
    /// [`Error::Random`] if the random source fails, [`Error::Memory`] if there is no memory for the stock; the stock is
    /// then as it was before, and the call may be repeated. The same holds if the random source panics.
    pub fn take(&self, rng: &mut (impl RandomSource + ?Sized)) -> Result<KeyPair<P>, Error> {
        loop {
            let shelf = self.shelf.get_or_make()?;
            let mut level = shelf.lock();
            if *level == 0 {
                let size = NonZeroUsize::new(self.batch_size()).expect("set_batch_size refuses 0");
                let pairs = generate_batch::<P>(size, rng)?;
                if shelf.is_foreign() {
                    continue; // the random source forked, and in the child this batch is the parent's
                }
                shelf.fill(&pairs);
                *level = pairs.len();
            }
            *level -= 1;
            let pair = shelf.remove(*level);
            if shelf.is_foreign() {
                continue; // a signal handler forked meanwhile, and in the child the kernel has wiped the place
            }
            return Ok(pair);
        }
    }

    /// Number of pairs that are ready.
    pub fn level(&self) -> usize {
        self.shelf.get().map_or(0, |shelf| *shelf.lock())
    }

    /// Number of pairs that a refill makes.
    pub fn batch_size(&self) -> usize {
        self.batch_size.load(Ordering::Relaxed)
    }

    /// Sets the number of pairs that a refill makes; what is in stock stays.
    ///
    /// # Errors
    /// [`Error::BatchSize`] if `size` is not in 1..=[`MAX_BATCH`].
    pub fn set_batch_size(&self, size: usize) -> Result<(), Error> {
        if !(1..=MAX_BATCH).contains(&size) {
            return Err(Error::BatchSize { got: size, max: MAX_BATCH });
        }
        self.batch_size.store(size, Ordering::Relaxed);
        Ok(())
    }

    /// Wipes all pairs that are in stock.
    pub fn clear(&self) {
        if let Some(shelf) = self.shelf.get() {
            let mut level = shelf.lock();
            *level = 0;
            shelf.wipe();
        }
    }
}

impl<P: Params> Default for Stock<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Params> std::fmt::Debug for Stock<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "stock of {} key pairs, refilled by {}", P::NAME, self.batch_size())
    }
}

/// The pairs of one process: secret keys, which contain the public ones, side by side in memory of their own.
struct Shelf<P: Params> {
    /// Number of pairs; they lie in the first places. Holding the lock gives the right to use the places.
    level: Mutex<usize>,
    pages: Pages,
    /// Places that were ever in use. A child that may not take the lock wipes so many.
    used: AtomicUsize,
    set: PhantomData<P>,
}

impl<P: Params> Shelf<P> {
    /// The lock, polled: at first eagerly, as a copy takes a microsecond; then at a pace that suits a refill.
    fn lock(&self) -> MutexGuard<'_, usize> {
        let mut attempts = 0;
        loop {
            if let Some(guard) = self.level.try_lock() {
                return guard;
            }
            attempts += 1;
            match attempts {
                ..100 => std::hint::spin_loop(),
                100..120 => thread::yield_now(),
                _ => thread::sleep(Duration::from_micros(50)),
            }
        }
    }

    fn place(&self, i: usize) -> &[AtomicU8] {
        &self.pages.bytes()[i * P::SECRET_KEY_BYTES..][..P::SECRET_KEY_BYTES]
    }

    /// Puts the pairs into the first places.
    fn fill(&self, pairs: &[KeyPair<P>]) {
        self.used.fetch_max(pairs.len(), Ordering::Relaxed);
        for (i, pair) in pairs.iter().enumerate() {
            for (cell, &byte) in self.place(i).iter().zip(pair.secret().as_bytes()) {
                cell.store(byte, Ordering::Relaxed);
            }
        }
    }

    /// Takes the pair out of place `i` and wipes the place.
    fn remove(&self, i: usize) -> KeyPair<P> {
        let place = self.place(i);
        let secret = SecretKey::build(|out| {
            for (byte, cell) in out.iter_mut().zip(place) {
                *byte = cell.load(Ordering::Relaxed);
            }
        });
        wipe(place);
        KeyPair::new(secret.public_key(), secret)
    }

    /// Wipes all places.
    fn wipe(&self) {
        wipe(&self.pages.bytes()[..self.used.load(Ordering::Relaxed) * P::SECRET_KEY_BYTES]);
    }
}

/// Overwrites with zeros. The compiler may not drop the stores: the memory is not its own but the kernel's mapping.
fn wipe(cells: &[AtomicU8]) {
    for cell in cells {
        cell.store(0, Ordering::Relaxed);
    }
}

impl<P: Params> Inherited for Shelf<P> {
    fn fresh() -> Result<Self, Error> {
        let pages = Pages::map(MAX_BATCH * P::SECRET_KEY_BYTES)?;
        Ok(Self { level: Mutex::new(0), pages, used: AtomicUsize::new(0), set: PhantomData })
    }

    fn is_foreign(&self) -> bool {
        self.pages.is_foreign()
    }

    fn abandon(&self) {
        self.wipe();
    }
}

impl<P: Params> Drop for Shelf<P> {
    fn drop(&mut self) {
        self.wipe();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Sntrup653;
    use crate::rng::RandomError;

    /// A repeatable random source.
    struct Counter(u64);

    impl RandomSource for Counter {
        fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
            for byte in out {
                self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                *byte = (self.0 >> 56) as u8;
            }
            Ok(())
        }
    }

    #[test]
    fn places_are_wiped_when_a_pair_leaves_and_all_when_cleared() {
        let stock = Stock::<Sntrup653>::new();
        stock.set_batch_size(4).unwrap();
        let holds_key = |i| {
            let place = stock.shelf.get().unwrap().place(i);
            let bytes: Vec<u8> = place.iter().map(|cell| cell.load(Ordering::Relaxed)).collect();
            assert!(bytes.iter().all(|&byte| byte == 0) || bytes[..32].iter().any(|&byte| byte != 0));
            bytes.iter().any(|&byte| byte != 0)
        };
        stock.take(&mut Counter(1)).unwrap();
        assert_eq!([0, 1, 2, 3].map(holds_key), [true, true, true, false]);
        stock.take(&mut Counter(2)).unwrap();
        assert_eq!([0, 1, 2, 3].map(holds_key), [true, true, false, false]);
        stock.clear();
        assert_eq!([0, 1, 2, 3].map(holds_key), [false; 4]);
        assert_eq!(stock.level(), 0);
    }
}
