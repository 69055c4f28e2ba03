//! P4: 64 threads behind a barrier make the first call of all: right results, one initialisation, the best backend.
//! This binary has one test, so that the call is the first of its process.

mod common;

use std::collections::HashSet;
use std::sync::Barrier;
use std::thread;

use common::OsRandom;
use sntrup_core::{Backend, Sntrup761, Stock, decapsulate, encapsulate};

#[test]
fn the_first_call_of_64_threads() {
    static STOCK: Stock<Sntrup761> = Stock::new();
    let barrier = Barrier::new(64);
    let results: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..64)
            .map(|_| {
                scope.spawn(|| {
                    barrier.wait();
                    let pair = STOCK.take(&mut OsRandom).unwrap();
                    let (ciphertext, secret) = encapsulate(pair.public(), &mut OsRandom).unwrap();
                    assert_eq!(decapsulate(&ciphertext, pair.secret()).as_bytes(), secret.as_bytes());
                    (pair.public().as_bytes().to_vec(), *secret.as_bytes(), Backend::active())
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(results.iter().map(|result| &result.0).collect::<HashSet<_>>().len(), 64);
    assert_eq!(results.iter().map(|result| result.1).collect::<HashSet<_>>().len(), 64);
    let best = Backend::available().last().unwrap();
    assert!(results.iter().all(|result| result.2 == *best));
    assert_eq!(STOCK.level(), 0, "64 pairs are two batches of 32: one stock, not several");
}
