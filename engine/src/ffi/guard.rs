//! The one door between C and Rust: errors become error-queue entries, and no panic leaves.

use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook};
use std::sync::Once;

use super::returns::Convention;
use crate::error::{self, Error, Function, Reason};

/// Runs the body of a callback.
///
/// An error is put into OpenSSL's error queue under our library's name, with `function` and its reason; so is a panic,
/// which ends here. In both cases C gets the failure value of the callback's convention.
#[track_caller]
pub(crate) fn guard<R: Convention>(function: Function, body: impl FnOnce() -> Result<R, Error>) -> R::C {
    // AssertUnwindSafe: what a callback shares with others is behind locks that are used again after a panic only where
    // the state is whole at every moment (see `keypair`), or belongs to sntrup-core, which says the same of its stock.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        #[cfg(feature = "fault-injection")]
        fault::strike(function);
        body()
    }));
    match outcome {
        Ok(Ok(value)) => value.into_c(),
        Ok(Err(error)) => {
            error::raise(function, &error);
            R::FAILED
        }
        Err(_) => {
            error::raise(function, &Error::new(Reason::PanicStopped));
            R::FAILED
        }
    }
}

/// Replaces Rust's panic output, once for the life of the library.
///
/// The usual hook prints the panic's message, which could contain what an assertion compared, and it creates a
/// thread-local handle whose destructor could outlive the library. Ours records the place alone, in the error queue.
pub(crate) fn silence_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| set_hook(Box::new(record_place)));
}

fn record_place(info: &PanicHookInfo<'_>) {
    if let Some(place) = info.location() {
        let place = format!("{}:{}", place.file(), place.line());
        error::raise(Function::Panic, &Error::new(Reason::PanicStopped).with(place));
    }
}

/// Panics on demand, to show that none gets past the door.
#[cfg(feature = "fault-injection")]
pub(crate) mod fault {
    use std::sync::atomic::{AtomicI32, Ordering};

    use super::Function;

    static TARGET: AtomicI32 = AtomicI32::new(0);

    /// The next call of the named callback panics. False if there is no such callback.
    pub(crate) fn aim(name: &str) -> bool {
        let target = Function::ALL.iter().find(|f| f.name().to_bytes() == name.as_bytes());
        TARGET.store(target.map_or(0, |f| *f as i32), Ordering::SeqCst);
        target.is_some()
    }

    pub(super) fn strike(function: Function) {
        if TARGET.compare_exchange(function as i32, 0, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            let secret = [0x5e, 0xc2, 0xe7];
            assert_eq!(secret, [0; 3], "an injected panic, whose message must not be printed");
        }
    }
}
