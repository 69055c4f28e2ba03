//! The background refill: one thread, for all stocks, that computes the batches that they order, and nothing else.
//!
//! The thread runs no code of the caller: an order brings the seed of its batch along. So it waits for no lock but those
//! of the allocator, for an instant the one below, and for an instant that of a stock; it may be joined wherever the last
//! stock switches its refills off, also under a lock of the caller, and a process may exit while it computes.
//!
//! It is started by the first order and ends with the last stock that has the setting on. A forked child has no such
//! thread: it finds the parent's to be foreign (see `fork`), leaves it alone, and starts its own with its first order.
//!
//! When the process exits the thread is told to end, and waited for, but not for ever: exit may be called
//! where its own thread holds the lock of a stock, as by a random source. Whatever still runs then ends with the process.

use std::collections::VecDeque;
use std::hint;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Once};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

use crate::error::Error;
use crate::fork::{Inherited, Pages, PerProcess};

/// Bytes of the thread's stack; generation needs under 16 KiB, and several times that when it is not optimised.
const STACK_BYTES: usize = 512 * 1024;

/// A batch to be made. It is dropped undone if there is no thread for it; its stock learns that from a destructor.
pub(crate) type Order = Box<dyn FnOnce() + Send>;

/// The longest wait for the thread when the process exits: many batches of the usual size.
const LONGEST_FAREWELL: Duration = Duration::from_secs(1);

/// Stocks that have the setting on.
static USERS: AtomicUsize = AtomicUsize::new(0);

/// The process is exiting: no thread starts any more.
static EXITS: AtomicBool = AtomicBool::new(false);

static WORKSHOP: PerProcess<Workshop> = PerProcess::new();

/// One more stock has the setting on.
pub(crate) fn enter() {
    USERS.fetch_add(1, Ordering::SeqCst);
}

/// One stock fewer has the setting on. The last one ends the thread, and waits for it: up to a batch.
pub(crate) fn leave() {
    if USERS.fetch_sub(1, Ordering::SeqCst) == 1
        && let Some(workshop) = WORKSHOP.get()
    {
        workshop.close();
    }
}

/// Hands an order to the thread, which is started if there is none.
pub(crate) fn submit(order: Order) {
    // Without memory there is no background refill.
    if let Ok(workshop) = WORKSHOP.get_or_make() {
        workshop.accept(order);
    }
}

/// The lock, polled: at first eagerly, as it is held for a microsecond; then at a pace that suits a refill.
///
/// It is not waited for in a queue: parking a thread goes through tables of the whole process and a thread-local with a
/// destructor, and a fork at the wrong moment would leave those tables locked in the child.
pub(crate) fn poll<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    let mut attempts = 0;
    loop {
        if let Some(guard) = mutex.try_lock() {
            return guard;
        }
        attempts += 1;
        match attempts {
            ..100 => hint::spin_loop(),
            100..120 => thread::yield_now(),
            _ => thread::sleep(Duration::from_micros(50)),
        }
    }
}

/// The thread of one process, and what it has to do.
struct Workshop {
    mark: Pages,
    desk: Mutex<Desk>,
}

struct Desk {
    orders: VecDeque<Order>,
    thread: Option<Thread>,
}

struct Thread {
    handle: JoinHandle<()>,
    ends: Arc<AtomicBool>,
}

impl Workshop {
    /// Errors that starting a thread may have end here: the order is dropped.
    fn accept(&'static self, order: Order) {
        let mut desk = poll(&self.desk);
        // Looked at under the lock: after the last stock left, no thread starts.
        if USERS.load(Ordering::SeqCst) == 0 || EXITS.load(Ordering::SeqCst) {
            drop(desk);
            return; // and the order is dropped without the lock
        }
        if desk.thread.is_none() {
            desk.thread = self.start();
        }
        if let Some(thread) = &desk.thread {
            thread.handle.thread().unpark();
            desk.orders.push_back(order);
        }
    }

    fn start(&'static self) -> Option<Thread> {
        static REGISTER: Once = Once::new();
        REGISTER.call_once(|| {
            // SAFETY: the function needs nothing but what is static here; the C library calls it before either goes. Without
            // memory for the note the thread ends with the process.
            let _ = unsafe { libc::atexit(at_exit) };
        });
        let ends = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&ends);
        // A set size: the usual one comes from the environment, which another thread may be changing.
        let builder = thread::Builder::new().name("sntrup-refill".into()).stack_size(STACK_BYTES);
        let handle = without_signals(|| builder.spawn(move || self.work(&told))).ok()?;
        Some(Thread { handle, ends })
    }

    /// What the thread does.
    fn work(&self, ends: &AtomicBool) {
        while !ends.load(Ordering::SeqCst) {
            let order = poll(&self.desk).orders.pop_front();
            match order {
                // An order that panics, for lack of memory, tells its stock when it is dropped.
                Some(order) => drop(catch_unwind(AssertUnwindSafe(order))),
                // `unpark` before `park` is not lost.
                None => thread::park(),
            }
        }
    }

    fn close(&self) {
        let (orders, thread) = {
            let mut desk = poll(&self.desk);
            (std::mem::take(&mut desk.orders), desk.thread.take())
        };
        drop(orders); // takes locks of stocks
        if let Some(Thread { handle, ends }) = thread {
            ends.store(true, Ordering::SeqCst);
            handle.thread().unpark();
            // The thread catches panics, so there is no other outcome.
            let _ = handle.join();
        }
    }
}

/// Ends the thread when the process exits. What is still ordered is left as it is: to drop it takes locks.
extern "C" fn at_exit() {
    EXITS.store(true, Ordering::SeqCst);
    let start = Instant::now();
    let patient = || start.elapsed() < LONGEST_FAREWELL;
    let Some(workshop) = WORKSHOP.get() else { return };
    let thread = loop {
        match workshop.desk.try_lock() {
            Some(mut desk) => {
                std::mem::take(&mut desk.orders).into_iter().for_each(std::mem::forget);
                break desk.thread.take();
            }
            None if patient() => thread::sleep(Duration::from_micros(50)),
            None => return,
        }
    };
    let Some(Thread { handle, ends }) = thread else { return };
    ends.store(true, Ordering::SeqCst);
    handle.thread().unpark();
    while !handle.is_finished() && patient() {
        thread::sleep(Duration::from_micros(50));
    }
    if handle.is_finished() {
        let _ = handle.join();
    }
}

impl Inherited for Workshop {
    fn fresh() -> Result<Self, Error> {
        Ok(Self { mark: Pages::map(0)?, desk: Mutex::new(Desk { orders: VecDeque::new(), thread: None }) })
    }

    fn is_foreign(&self) -> bool {
        self.mark.is_foreign()
    }

    /// The parent's thread and orders are left as they are, for ever: they may be in any state.
    fn abandon(&self) {}
}

/// Runs `start`, which starts a thread, so that no signal of the process is handled in that thread: a handler of the
/// program might fork, exit or unwind there.
fn without_signals<T>(start: impl FnOnce() -> T) -> T {
    // SAFETY: both sets are valid places, filled by the first call and by the second; the calling thread's mask is put
    // back unless `start` unwinds, which `Builder::spawn` does only where memory ran out.
    unsafe {
        let mut all = std::mem::zeroed::<libc::sigset_t>();
        let mut usual = std::mem::zeroed::<libc::sigset_t>();
        libc::sigfillset(&mut all);
        let blocked = libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut usual) == 0;
        let started = start();
        if blocked {
            libc::pthread_sigmask(libc::SIG_SETMASK, &usual, ptr::null_mut());
        }
        started
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{RecvTimeoutError, Sender, channel};

    use super::*;

    /// An order that reports that it was made; the channel closes when it is dropped.
    fn reporting(to: Sender<&'static str>) -> Order {
        Box::new(move || to.send("made").expect("the test listens"))
    }

    #[test]
    #[cfg_attr(miri, ignore)]
    fn orders_are_made_only_while_a_stock_wants_them_and_a_panic_ends_none_but_its_own() {
        const PATIENCE: Duration = Duration::from_secs(60);
        for _ in 0..3 {
            // Nobody has the setting on: no thread starts, and the order is dropped at once.
            let (to, reports) = channel();
            submit(reporting(to));
            assert_eq!(reports.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Disconnected));

            enter();
            let (to, reports) = channel();
            let panics = to.clone();
            submit(Box::new(move || {
                let _dropped = panics;
                panic!("an order panics, as this test wants")
            }));
            submit(reporting(to));
            assert_eq!(reports.recv_timeout(PATIENCE), Ok("made"));
            assert_eq!(reports.recv_timeout(PATIENCE), Err(RecvTimeoutError::Disconnected));

            // The last stock leaves while an order is being made and another one waits.
            let (to, reports) = channel();
            let (begins, begun) = channel();
            let first = to.clone();
            submit(Box::new(move || {
                begins.send(()).expect("the test listens");
                thread::sleep(Duration::from_millis(20));
                first.send("first").expect("the test listens");
            }));
            submit(reporting(to));
            begun.recv_timeout(PATIENCE).expect("the thread is there");
            leave();
            assert_eq!(reports.try_recv(), Ok("first"), "the thread was waited for");
            assert_eq!(reports.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Disconnected));
        }
    }
}
