//! The stack that each operation needs, measured by painting a thread's stack before and looking at the paint after.
//! Servers run operations on threads with little stack (stunnel: 64 KiB), so every operation stays under 10 kB.

mod common;

use std::num::NonZeroUsize;

use common::OsRandom;
use sntrup_core::{
    Backend, Params, Sntrup653, Sntrup761, Sntrup857, Stock, decapsulate, encapsulate, generate_batch, generate_key,
};

const LIMIT: usize = 10_000;
const STACK: usize = 256 * 1024;
const PAINT: u8 = 0xa5;

/// Runs the body on a thread with a painted stack; returns how many bytes of it were used.
fn used(body: &mut dyn FnMut()) -> usize {
    extern "C" fn run(argument: *mut libc::c_void) -> *mut libc::c_void {
        // SAFETY: the parent passes a pointer to the body and waits for the thread.
        let body = unsafe { &mut *argument.cast::<&mut dyn FnMut()>() };
        body();
        std::ptr::null_mut()
    }
    let mut argument = body;
    // SAFETY: the stack is a fresh mapping of STACK bytes that outlives the thread, `argument` outlives it too, and the
    // mapping is read only after the thread has ended.
    unsafe {
        let stack = libc::mmap(
            std::ptr::null_mut(),
            STACK,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        assert_ne!(stack, libc::MAP_FAILED);
        std::ptr::write_bytes(stack.cast::<u8>(), PAINT, STACK);
        let mut attributes = std::mem::zeroed();
        let mut thread = 0;
        assert_eq!(libc::pthread_attr_init(&mut attributes), 0);
        assert_eq!(libc::pthread_attr_setstack(&mut attributes, stack, STACK), 0);
        assert_eq!(libc::pthread_create(&mut thread, &attributes, run, (&raw mut argument).cast()), 0);
        assert_eq!(libc::pthread_join(thread, std::ptr::null_mut()), 0);
        libc::pthread_attr_destroy(&mut attributes);
        let untouched =
            std::slice::from_raw_parts(stack.cast::<u8>(), STACK).iter().take_while(|&&b| b == PAINT).count();
        libc::munmap(stack, STACK);
        STACK - untouched
    }
}

fn operations<P: Params>() {
    let mut rng = OsRandom;
    let pair = generate_key::<P>(&mut rng).unwrap();
    let (ciphertext, _) = encapsulate(pair.public(), &mut rng).unwrap();
    let stock = Stock::<P>::new();
    // What the thread itself needs, and what the dynamic linker needs at a first call.
    let base = used(&mut || drop(std::hint::black_box(vec![0u8; 100])));
    let mut operations: [(&str, &mut dyn FnMut()); 6] = [
        ("generate_key", &mut || drop(generate_key::<P>(&mut OsRandom).unwrap())),
        ("encapsulate", &mut || drop(encapsulate(pair.public(), &mut OsRandom).unwrap())),
        ("decapsulate", &mut || drop(decapsulate(&ciphertext, pair.secret()))),
        ("generate_batch", &mut || drop(generate_batch::<P>(NonZeroUsize::new(32).unwrap(), &mut OsRandom).unwrap())),
        ("Stock::take, refill", &mut || drop(stock.take(&mut OsRandom).unwrap())),
        ("Stock::take", &mut || drop(stock.take(&mut OsRandom).unwrap())),
    ];
    for (name, operation) in &mut operations {
        let bytes = used(operation) - base;
        println!("{} {name}: {bytes} bytes of stack", P::NAME);
        assert!(bytes < LIMIT, "{} {name} needs {bytes} bytes of stack, more than {LIMIT}", P::NAME);
    }
}

#[test]
fn operations_need_little_stack() {
    // The measure itself: a body that uses 20 kB must be seen to do so.
    let large = used(&mut || {
        std::hint::black_box(&mut [1u8; 20_000]);
    });
    assert!((20_000..60_000).contains(&large), "{large}");
    for &backend in Backend::available() {
        Backend::select(backend).unwrap();
        operations::<Sntrup653>();
        operations::<Sntrup761>();
        operations::<Sntrup857>();
    }
}
