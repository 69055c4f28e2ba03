//! The stock of ready keys in one process: refills, sizes, failures, panics, threads. Forks are in `fork.rs`.

mod common;

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::{OsRandom, seeded};
use sntrup_core::{
    DEFAULT_BATCH_SIZE, Error, MAX_BATCH, RandomError, RandomSource, Sntrup653, Sntrup761, Sntrup857, Stock,
    decapsulate, encapsulate,
};

/// Panics at its first request.
struct Panics;

impl RandomSource for Panics {
    fn fill(&mut self, _: &mut [u8]) -> Result<(), RandomError> {
        panic!("the random source panics, as this test wants")
    }
}

#[test]
fn pairs_come_in_batches_and_each_leaves_once() {
    static STOCK: Stock<Sntrup761> = Stock::new();
    assert_eq!((STOCK.level(), STOCK.batch_size(), DEFAULT_BATCH_SIZE), (0, 32, 32));
    let mut rng = seeded(1);
    let mut seen = HashSet::new();
    for taken in 1..=70 {
        let pair = STOCK.take(&mut rng).unwrap();
        assert_eq!(STOCK.level(), (32 - taken % 32) % 32);
        assert_eq!(&pair.secret().public_key(), pair.public());
        assert!(seen.insert(pair.public().as_bytes().to_vec()));
        let (ciphertext, secret) = encapsulate(pair.public(), &mut rng).unwrap();
        assert_eq!(decapsulate(&ciphertext, pair.secret()).as_bytes(), secret.as_bytes());
    }
}

#[test]
fn the_batch_size_can_be_set_within_its_range() {
    let stock = Stock::<Sntrup653>::new();
    for bad in [0, MAX_BATCH + 1, usize::MAX] {
        let error = stock.set_batch_size(bad).unwrap_err();
        assert_eq!(error, Error::BatchSize { got: bad, max: MAX_BATCH });
        assert!(error.to_string().contains(&bad.to_string()) && error.to_string().contains("1024"), "{error}");
    }
    assert_eq!(stock.batch_size(), DEFAULT_BATCH_SIZE);
    let mut rng = seeded(2);
    for size in [1, 3, MAX_BATCH, 2] {
        stock.set_batch_size(size).unwrap();
        stock.take(&mut rng).unwrap();
        assert_eq!((stock.level(), stock.batch_size()), (size - 1, size));
        stock.clear();
        assert_eq!(stock.level(), 0);
    }
    // A new size waits for the next refill.
    stock.take(&mut rng).unwrap();
    stock.set_batch_size(5).unwrap();
    assert_eq!(stock.level(), 1);
    stock.take(&mut rng).unwrap();
    stock.take(&mut rng).unwrap();
    assert_eq!(stock.level(), 4);
}

#[test]
fn a_panic_of_the_random_source_leaves_the_stock_usable() {
    let stock = Stock::<Sntrup857>::new();
    stock.set_batch_size(4).unwrap();
    for _ in 0..3 {
        assert!(catch_unwind(AssertUnwindSafe(|| stock.take(&mut Panics))).is_err());
        assert_eq!(stock.level(), 0);
    }
    stock.take(&mut seeded(3)).unwrap();
    assert_eq!(stock.level(), 3);
    stock.take(&mut Panics).unwrap(); // needs no randomness
}

#[test]
fn threads_share_a_stock_and_no_pair_is_given_twice() {
    let stock = Stock::<Sntrup653>::new();
    stock.set_batch_size(16).unwrap();
    let keys: Vec<Vec<u8>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let take = || stock.take(&mut OsRandom).unwrap().public().as_bytes().to_vec();
                    (0..40).map(|_| take()).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(keys.iter().collect::<HashSet<_>>().len(), 320);
    assert_eq!(stock.level(), 0, "320 pairs are 20 batches of 16, none in vain");
}

/// One at a time: these tests look for the thread that serves all stocks of the process.
static REFILLS: Mutex<()> = Mutex::new(());

/// Whether the thread that refills is there.
fn thread_is_there() -> bool {
    let named = |entry: std::io::Result<std::fs::DirEntry>| {
        let name = std::fs::read_to_string(entry.unwrap().path().join("comm"));
        name.is_ok_and(|name| name == "sntrup-refill\n") // a thread may have ended meanwhile
    };
    std::fs::read_dir("/proc/self/task").unwrap().any(named)
}

/// Whether no signal that a program may handle (here those for INT, USR1, ALRM and TERM) can be handled in that thread.
fn the_thread_handles_no_signal() -> bool {
    let statuses = std::fs::read_dir("/proc/self/task").unwrap();
    let mut texts = statuses.filter_map(|entry| std::fs::read_to_string(entry.unwrap().path().join("status")).ok());
    let status = texts.find(|text| text.starts_with("Name:\tsntrup-refill\n")).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:\t")).unwrap();
    let mask = u64::from_str_radix(mask, 16).unwrap();
    [2, 10, 14, 15].iter().all(|signal| mask >> (signal - 1) & 1 == 1)
}

/// Whether it has ended: it was joined, but /proc may show it for a moment more.
fn thread_is_gone() -> bool {
    let start = Instant::now();
    while thread_is_there() && start.elapsed() < Duration::from_secs(5) {
        thread::sleep(Duration::from_millis(1));
    }
    !thread_is_there()
}

/// Waits until the stock holds this many.
fn wait_for<P: sntrup_core::Params>(stock: &Stock<P>, level: usize) {
    let start = Instant::now();
    while stock.level() < level {
        assert!(start.elapsed() < Duration::from_secs(60), "no refill: {} of {level}", stock.level());
        thread::sleep(Duration::from_micros(200));
    }
}

/// Counts the requests, and fails them when it is told to.
struct Counted<'a> {
    requests: &'a AtomicUsize,
    fails: &'a AtomicBool,
}

impl RandomSource for Counted<'_> {
    fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        if self.fails.load(Ordering::SeqCst) { Err(RandomError) } else { OsRandom.fill(out) }
    }
}

#[test]
#[cfg_attr(miri, ignore)]
fn no_thread_refills_unless_that_is_switched_on() {
    let _turn = REFILLS.lock();
    let stock = Stock::<Sntrup653>::new();
    assert!(!stock.background_refill());
    for _ in 0..3 * DEFAULT_BATCH_SIZE {
        let level = stock.level();
        stock.take(&mut OsRandom).unwrap();
        assert_eq!(stock.level(), (level + DEFAULT_BATCH_SIZE - 1) % DEFAULT_BATCH_SIZE);
        assert!(!thread_is_there());
    }
    // The setting alone starts nothing, nor does a take that leaves enough.
    stock.set_background_refill(true);
    stock.take(&mut OsRandom).unwrap();
    assert!(stock.background_refill() && !thread_is_there());
}

#[test]
#[cfg_attr(miri, ignore)]
fn a_thread_refills_before_the_stock_is_empty() {
    let _turn = REFILLS.lock();
    let stock = Stock::<Sntrup761>::new();
    let mut seen = HashSet::new();
    for size in [32, 5, 1] {
        stock.clear();
        stock.set_batch_size(size).unwrap();
        stock.set_background_refill(true);
        let low = size.div_ceil(4);
        let mut take = || {
            let pair = stock.take(&mut OsRandom).unwrap();
            assert!(seen.insert(pair.public().as_bytes().to_vec()), "a key was given twice");
            let (ciphertext, secret) = encapsulate(pair.public(), &mut OsRandom).unwrap();
            assert_eq!(decapsulate(&ciphertext, pair.secret()).as_bytes(), secret.as_bytes());
        };
        take();
        wait_for(&stock, 1);
        for _ in 0..4 * size {
            take();
            // What is low is refilled without a further take, and what is not low is left alone.
            wait_for(&stock, size.min(low + 1));
            assert!(stock.level() <= size + low, "{} of {size}", stock.level());
        }
        assert!(thread_is_there() && the_thread_handles_no_signal());
        stock.set_background_refill(false);
        assert!(thread_is_gone(), "the thread ends with the setting");
        // Off again: the stock runs down to nothing.
        while stock.level() > 0 {
            stock.take(&mut OsRandom).unwrap();
        }
        thread::sleep(Duration::from_millis(20));
        assert!(stock.level() == 0 && !thread_is_there());
    }
}

#[test]
#[cfg_attr(miri, ignore)]
fn the_thread_ends_with_the_last_stock_that_has_it() {
    let _turn = REFILLS.lock();
    let (first, second) = (Stock::<Sntrup653>::new(), Stock::<Sntrup857>::new());
    first.set_batch_size(1).unwrap();
    second.set_batch_size(1).unwrap();
    first.set_background_refill(true);
    second.set_background_refill(true);
    second.set_background_refill(true); // twice is once
    first.take(&mut OsRandom).unwrap();
    second.take(&mut OsRandom).unwrap();
    wait_for(&first, 1);
    wait_for(&second, 1);
    drop(first);
    assert!(thread_is_there());
    second.take(&mut OsRandom).unwrap();
    wait_for(&second, 1);
    drop(second);
    assert!(thread_is_gone());
}

#[test]
#[cfg_attr(miri, ignore)]
fn a_failing_random_source_orders_nothing_and_spoils_no_take() {
    let _turn = REFILLS.lock();
    let stock = Stock::<Sntrup761>::new();
    stock.set_batch_size(4).unwrap();
    stock.set_background_refill(true);
    let (requests, fails) = (AtomicUsize::new(0), AtomicBool::new(false));
    let mut rng = Counted { requests: &requests, fails: &fails };
    stock.take(&mut rng).unwrap();
    stock.take(&mut rng).unwrap();
    assert_eq!((stock.level(), requests.load(Ordering::SeqCst)), (2, 1));
    fails.store(true, Ordering::SeqCst);
    for level in [1, 0] {
        stock.take(&mut rng).unwrap(); // asks for a seed, in vain
        thread::sleep(Duration::from_millis(20));
        assert_eq!(stock.level(), level);
    }
    assert_eq!(requests.load(Ordering::SeqCst), 3);
    assert_eq!(stock.take(&mut rng).unwrap_err(), Error::Random);
    assert!(stock.level() == 0 && !thread_is_there());
    // It works again: the next seed that can be had is used.
    fails.store(false, Ordering::SeqCst);
    for _ in 0..3 {
        stock.take(&mut rng).unwrap();
    }
    wait_for(&stock, 4);

    // A panic where the seed is asked for takes no pair out.
    while stock.level() > 2 {
        stock.take(&mut rng).unwrap();
    }
    for _ in 0..3 {
        assert!(catch_unwind(AssertUnwindSafe(|| stock.take(&mut Panics))).is_err());
        assert_eq!(stock.level(), 2);
    }
    stock.take(&mut rng).unwrap();
    wait_for(&stock, 5);
}

#[test]
#[cfg_attr(miri, ignore)]
fn what_is_ordered_before_a_clear_does_not_come_after_it() {
    let _turn = REFILLS.lock();
    let stock = Stock::<Sntrup857>::new();
    stock.set_background_refill(true);
    stock.set_batch_size(64).unwrap();
    for _ in 0..20 {
        while stock.level() != 16 {
            stock.take(&mut OsRandom).unwrap();
        }
        stock.clear();
        assert_eq!(stock.level(), 0);
        thread::sleep(Duration::from_millis(5));
        assert_eq!(stock.level(), 0, "a cleared stock stays empty");
    }
}

/// Orders of one pair, each made as soon as the one before is in stock: none is lost between the two.
#[test]
#[cfg_attr(miri, ignore)]
fn orders_follow_each_other_closely() {
    let _turn = REFILLS.lock();
    let stock = Stock::<Sntrup653>::new();
    stock.set_batch_size(1).unwrap();
    stock.set_background_refill(true);
    for _ in 0..1000 {
        stock.take(&mut OsRandom).unwrap();
        let start = Instant::now();
        while stock.level() == 0 {
            assert!(start.elapsed() < Duration::from_secs(60), "no refill");
            std::hint::spin_loop();
        }
    }
}

/// A batch that was ordered before a clear does not come in the place of one that was ordered after it.
#[test]
#[cfg_attr(miri, ignore)]
fn orders_before_and_after_a_clear_are_told_apart() {
    let _turn = REFILLS.lock();
    let stock = Stock::<Sntrup857>::new();
    stock.set_background_refill(true);
    for _ in 0..20 {
        stock.set_batch_size(64).unwrap();
        while stock.level() != 16 {
            stock.take(&mut OsRandom).unwrap();
        }
        stock.clear();
        stock.set_batch_size(1).unwrap();
        stock.take(&mut OsRandom).unwrap();
        wait_for(&stock, 1);
        assert_eq!(stock.level(), 1, "the batch of one, and not that of 64");
        stock.clear();
    }
}

#[test]
#[cfg_attr(miri, ignore)]
fn a_batch_for_which_there_is_no_room_is_put_in_as_far_as_it_fits() {
    let _turn = REFILLS.lock();
    let stock = Stock::<Sntrup653>::new();
    stock.set_batch_size(MAX_BATCH).unwrap();
    stock.set_background_refill(true);
    stock.take(&mut OsRandom).unwrap();
    while stock.level() > MAX_BATCH / 4 {
        stock.take(&mut OsRandom).unwrap();
    }
    wait_for(&stock, MAX_BATCH);
    let mut seen = HashSet::new();
    for _ in 0..MAX_BATCH {
        assert!(seen.insert(stock.take(&mut OsRandom).unwrap().public().as_bytes().to_vec()));
    }
}

#[test]
#[cfg_attr(miri, ignore)]
fn threads_share_a_stock_that_a_thread_refills() {
    let _turn = REFILLS.lock();
    let stock = Stock::<Sntrup653>::new();
    stock.set_batch_size(8).unwrap();
    stock.set_background_refill(true);
    let keys: Vec<Vec<u8>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..6)
            .map(|i| {
                let stock = &stock;
                scope.spawn(move || {
                    let take = |n| {
                        if n % 10 == 9 && i == 0 {
                            // Off and on again, in the midst of it all.
                            stock.set_background_refill(false);
                            stock.set_background_refill(true);
                        }
                        stock.take(&mut OsRandom).unwrap().public().as_bytes().to_vec()
                    };
                    (0..100).map(take).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(keys.iter().collect::<HashSet<_>>().len(), 600);
    assert!(stock.level() <= 16, "at most two batches");
    drop(stock);
    assert!(thread_is_gone());
}
