//! Every refusal of memory to an operation, one by one: an error for what is large, a panic that can be caught for a few
//! kilobytes; afterwards everything works, and nothing was lost from a stock.
//!
//! This binary has one test, as its allocator counts for the whole process.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use common::OsRandom;
use sntrup_core::{
    Error, Params, Sntrup653, Sntrup761, Sntrup857, Stock, decapsulate, encapsulate, generate_batch, generate_key,
};

/// How the memory that the library wipes is told from other: it is aligned to cache lines.
const ALIGNMENT: usize = 64;
/// Requests until the one that is refused; more than there are when nothing is to be refused.
static UNTIL_REFUSAL: AtomicUsize = AtomicUsize::new(usize::MAX);

struct Refusing;

// SAFETY: everything is left to the system's allocator, but for requests that get the null pointer.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let refused = layout.align() == ALIGNMENT && UNTIL_REFUSAL.fetch_sub(1, Ordering::SeqCst) == 0;
        // SAFETY: as the caller promises.
        if refused { std::ptr::null_mut() } else { unsafe { System.alloc(layout) } }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

/// Runs the body with every one of its requests refused in turn, each time in a new thread, which has no memory kept from
/// before. Returns the numbers of errors and of panics.
fn refuse_each(name: &str, body: &(dyn Fn() -> Result<(), Error> + Sync)) -> (usize, usize) {
    let (mut errors, mut panics) = (0, 0);
    for refused in 0.. {
        let outcome = thread::scope(|scope| {
            let thread = scope.spawn(|| {
                UNTIL_REFUSAL.store(refused, Ordering::SeqCst);
                let outcome = catch_unwind(AssertUnwindSafe(body));
                // It runs on below zero once it has refused.
                let reached = UNTIL_REFUSAL.swap(usize::MAX, Ordering::SeqCst) > refused;
                (outcome, reached)
            });
            thread.join().expect("the body's panic is caught")
        });
        match outcome {
            (Ok(Ok(())), false) => break,
            (Ok(Err(Error::Memory { .. })), true) => errors += 1,
            (Err(_), true) => panics += 1,
            (outcome, reached) => panic!("{name}: refusal {refused}, reached: {reached}: {outcome:?}"),
        }
    }
    assert!(errors + panics > 0, "{name} asks for no memory");
    (errors, panics)
}

fn operations<P: Params>() {
    let pair = generate_key::<P>(&mut OsRandom).unwrap();
    let (ciphertext, secret) = encapsulate(pair.public(), &mut OsRandom).unwrap();
    refuse_each("key generation", &|| generate_key::<P>(&mut OsRandom).map(drop));
    refuse_each("encapsulation", &|| encapsulate(pair.public(), &mut OsRandom).map(drop));
    refuse_each("decapsulation", &|| {
        assert!(decapsulate(&ciphertext, pair.secret()) == secret);
        Ok(())
    });
    let three = NonZeroUsize::new(3).unwrap();
    let (errors, _) = refuse_each("batch", &|| generate_batch::<P>(three, &mut OsRandom).map(drop));
    assert_eq!(errors, 1, "the large request of a batch gives an error");

    let stock = Stock::<P>::new();
    stock.set_batch_size(3).unwrap();
    refuse_each("refill of the stock", &|| {
        stock.clear();
        stock.take(&mut OsRandom).map(drop)
    });
    stock.clear();
    stock.take(&mut OsRandom).unwrap();
    assert_eq!(stock.level(), 2);
}

#[test]
fn every_refusal_of_memory_is_survived() {
    // The panics are expected, and would be printed by hundreds.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let done = catch_unwind(|| {
        operations::<Sntrup653>();
        operations::<Sntrup761>();
        operations::<Sntrup857>();
    });
    std::panic::set_hook(hook);
    if let Err(panic) = done {
        std::panic::resume_unwind(panic);
    }
}
