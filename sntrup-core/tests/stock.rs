//! The stock of ready keys in one process: refills, sizes, failures, panics, threads. Forks are in `fork.rs`.

mod common;

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

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
