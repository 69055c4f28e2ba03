//! The stock of ready key pairs: each pair leaves once and its place is wiped at once; a forked child starts with an
//! empty stock. No thread unless asked for, no thread-local, nothing generated before the first request.
//!
//! The lock is polled (see `refill`). It is held to copy keys, or to refill an empty stock, so the longest wait is that
//! for a batch.
//!
//! With the background refill on, the take that leaves few pairs draws a seed from the caller's random source and orders
//! a batch from the thread of `refill`. All that touches the random source stays in the callers' threads: it need not be
//! fit for another thread, for a fork beside one, or for the end of the process. An order, made or failed, ends with
//! the value [`Ordered`], so that the stock can order again.

use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

use parking_lot::{Mutex, MutexGuard};

use crate::batch::{MAX_BATCH, generate_batch};
use crate::drbg::Seed;
use crate::error::Error;
use crate::fork::{Inherited, Pages, PerProcess};
use crate::keys::{KeyPair, SecretKey};
use crate::params::Params;
use crate::refill;
use crate::rng::RandomSource;

/// Number of key pairs that a [`Stock`] makes at a time unless told otherwise.
pub const DEFAULT_BATCH_SIZE: usize = 32;

/// A stock of key pairs of one parameter set, refilled in batches when it is empty and a pair is asked for.
///
/// Every pair leaves the stock exactly once. In a forked child, however it was made, the stock is empty, and the child
/// never waits for a lock that a thread of its parent held; the random source that the child passes must of course give
/// other bytes than the parent's. The stock wipes its keys when it is dropped or cleared.
///
/// A take from an empty stock waits for a whole batch. With [`set_background_refill`](Self::set_background_refill) a
/// thread makes the next batch while there are still pairs left.
pub struct Stock<P: Params> {
    shelf: PerProcess<Arc<Shelf<P>>>,
    batch_size: AtomicUsize,
    background_refill: AtomicBool,
}

impl<P: Params> Stock<P> {
    /// An empty stock.
    pub const fn new() -> Self {
        Self {
            shelf: PerProcess::new(),
            batch_size: AtomicUsize::new(DEFAULT_BATCH_SIZE),
            background_refill: AtomicBool::new(false),
        }
    }

    /// Takes a pair out of the stock; if there is none, a batch is generated first with `rng`. Other threads wait
    /// meanwhile, so `rng` must not come back to the same stock.
    ///
    /// With the background refill on, a take that leaves a quarter of a batch or less asks `rng` for the seed of the next
    /// one. If that fails, the take succeeds all the same, and the next one asks again.
    ///
    /// # Errors
    /// [`Error::Random`] if the random source fails, [`Error::Memory`] if there is no memory for the stock; the stock is
    /// then as it was before, and the call may be repeated. The same holds if the random source panics.
    pub fn take(&self, rng: &mut (impl RandomSource + ?Sized)) -> Result<KeyPair<P>, Error> {
        loop {
            let shelf = self.shelf.get_or_make()?;
            let size = NonZeroUsize::new(self.batch_size()).expect("set_batch_size refuses 0");
            let mut content = shelf.lock();
            if content.level == 0 {
                let pairs = generate_batch::<P>(size, rng)?;
                if shelf.is_foreign() {
                    continue; // the random source forked, and in the child this batch is the parent's
                }
                shelf.add(&mut content, &pairs);
            }
            let low = content.level - 1 <= size.get().div_ceil(4);
            let wanted = low && content.ordered.is_none() && self.background_refill();
            let seed = if wanted { Seed::draw(rng).ok() } else { None };
            if shelf.is_foreign() {
                continue; // as above
            }
            content.level -= 1;
            let pair = shelf.remove(content.level);
            if shelf.is_foreign() {
                continue; // a signal handler forked meanwhile, and in the child the kernel has wiped the place
            }
            if let Some(seed) = seed {
                content.orders += 1;
                content.ordered = Some(content.orders);
                let ordered = Ordered { shelf: Arc::clone(shelf), number: content.orders };
                drop(content);
                refill::submit(Box::new(move || ordered.make(size, seed)));
            }
            return Ok(pair);
        }
    }

    /// Number of pairs that are ready.
    pub fn level(&self) -> usize {
        self.shelf.get().map_or(0, |shelf| shelf.lock().level)
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

    /// Whether a thread refills the stock.
    pub fn background_refill(&self) -> bool {
        self.background_refill.load(Ordering::Relaxed)
    }

    /// Sets whether a thread makes the next batch when a quarter of a batch or less is left; at first it is off.
    ///
    /// One thread serves all stocks of the process. The first of them that needs it starts it, and it ends when the last
    /// one switches the setting off, or is dropped; that call waits for it, up to the time of a batch. The thread only
    /// computes: randomness comes from the callers of [`take`](Self::take), who do without the thread where it is late or
    /// cannot be started. The stock then holds at most two batches.
    ///
    /// In a forked child the setting is the parent's; the thread is started anew with the first need.
    pub fn set_background_refill(&self, on: bool) {
        if self.background_refill.swap(on, Ordering::SeqCst) != on {
            if on { refill::enter() } else { refill::leave() }
        }
    }

    /// Wipes all pairs that are in stock. A batch that the thread is making meanwhile is not put into it.
    pub fn clear(&self) {
        if let Some(shelf) = self.shelf.get() {
            let mut content = shelf.lock();
            content.level = 0;
            content.ordered = None;
            shelf.wipe();
        }
    }
}

impl<P: Params> Drop for Stock<P> {
    fn drop(&mut self) {
        self.set_background_refill(false);
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

/// What is on a shelf.
struct Content {
    /// Number of pairs; they lie in the first places.
    level: usize,
    /// Number of orders so far.
    orders: u64,
    /// The order that the shelf waits for; a batch of another one is too late.
    ordered: Option<u64>,
}

impl Content {
    const NOTHING: Self = Self { level: 0, orders: 0, ordered: None };

    /// Ends the waiting for this order. False if it is not the one that is waited for.
    fn end(&mut self, order: u64) -> bool {
        self.ordered.take_if(|ordered| *ordered == order).is_some()
    }
}

/// The pairs of one process: secret keys, which contain the public ones, side by side in memory of their own.
struct Shelf<P: Params> {
    /// Holding the lock gives the right to use the places.
    content: Mutex<Content>,
    pages: Pages,
    /// Places that were ever in use. A child that may not take the lock wipes so many.
    used: AtomicUsize,
    set: PhantomData<P>,
}

impl<P: Params> Shelf<P> {
    fn lock(&self) -> MutexGuard<'_, Content> {
        refill::poll(&self.content)
    }

    fn place(&self, i: usize) -> &[AtomicU8] {
        &self.pages.bytes()[i * P::SECRET_KEY_BYTES..][..P::SECRET_KEY_BYTES]
    }

    /// Puts the pairs into the next places, as many as there is room for.
    fn add(&self, content: &mut Content, pairs: &[KeyPair<P>]) {
        let pairs = &pairs[..pairs.len().min(MAX_BATCH - content.level)];
        self.used.fetch_max(content.level + pairs.len(), Ordering::Relaxed);
        for pair in pairs {
            for (cell, &byte) in self.place(content.level).iter().zip(pair.secret().as_bytes()) {
                cell.store(byte, Ordering::Relaxed);
            }
            content.level += 1;
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

impl<P: Params> Inherited for Arc<Shelf<P>> {
    fn fresh() -> Result<Self, Error> {
        let pages = Pages::map(MAX_BATCH * P::SECRET_KEY_BYTES)?;
        Ok(Self::new(Shelf {
            content: Mutex::new(Content::NOTHING),
            pages,
            used: AtomicUsize::new(0),
            set: PhantomData,
        }))
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

/// An order of a shelf: when this is dropped, it is over.
struct Ordered<P: Params> {
    shelf: Arc<Shelf<P>>,
    number: u64,
}

impl<P: Params> Ordered<P> {
    /// Makes the batch and puts it on the shelf, unless the shelf was cleared meanwhile. No lock is held until the batch
    /// is complete. Without memory for it, nothing happens.
    fn make(self, size: NonZeroUsize, mut seed: Seed) {
        let Ok(pairs) = generate_batch::<P>(size, &mut seed) else { return };
        // In a child of a fork at the wrong moment the seed is the parent's.
        if !self.shelf.is_foreign() {
            let mut content = self.shelf.lock();
            // At once, so that who finds these pairs and takes them can order again.
            if content.end(self.number) {
                self.shelf.add(&mut content, &pairs);
            }
        }
    }
}

impl<P: Params> Drop for Ordered<P> {
    fn drop(&mut self) {
        if !self.shelf.is_foreign() {
            self.shelf.lock().end(self.number);
        }
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
