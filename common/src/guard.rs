//! The one door between C and Rust: values become what C expects, errors are reported, and no panic leaves.

use std::cell::Cell;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, Location, PanicHookInfo, catch_unwind, set_hook};
use std::sync::Once;

use crate::error::{Code, Error, Reason};

/// A Rust result type that knows how C expects it, and what C expects when the callback failed.
pub trait Convention {
    /// The C return type.
    type C;
    /// What the callback returns when it failed; an error-queue entry says why.
    const FAILED: Self::C;
    /// The C value of a success.
    fn into_c(self) -> Self::C;
}

/// Success is 1, failure 0: operations, encoders, printers and the life of a module.
#[derive(Debug)]
pub struct Done;

impl Convention for Done {
    type C = c_int;
    const FAILED: c_int = 0;
    fn into_c(self) -> c_int {
        1
    }
}

/// Callbacks without a result.
#[derive(Debug)]
pub struct Nothing;

impl Convention for Nothing {
    type C = ();
    const FAILED: () = ();
    fn into_c(self) {}
}

/// Runs the body of a callback.
///
/// An error goes to `raise` with the `callback` in which it arose; so does a panic, which ends here. In both cases C gets
/// the failure value of the callback's convention.
pub fn guard<F: Code, R: Convention>(
    callback: F,
    raise: impl Fn(F, &Error),
    body: impl FnOnce() -> Result<R, Error>,
) -> R::C {
    // AssertUnwindSafe: what callbacks share is whole at every moment: atomic values that are exchanged, and sntrup-core's
    // stock, which says the same of itself.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        #[cfg(feature = "fault-injection")]
        fault::strike(callback);
        body()
    }));
    match outcome {
        Ok(Ok(value)) => value.into_c(),
        Ok(Err(error)) => {
            raise(callback, &error);
            R::FAILED
        }
        Err(_) => {
            raise(callback, &Error::new(Reason::PanicStopped).with(PLACE.get().to_string()));
            R::FAILED
        }
    }
}

/// Replaces Rust's panic output, once for the life of the library.
///
/// The usual hook prints the panic's message, which could contain what an assertion compared, and it creates a
/// thread-local handle whose destructor could outlive the library. Ours notes the place alone, for [`guard`].
pub fn silence_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| set_hook(Box::new(|info: &PanicHookInfo<'_>| PLACE.set(Place::new(info.location())))));
}

thread_local! {
    /// Where this thread panicked last. Plain bytes: nothing has to be destroyed when the thread ends.
    static PLACE: Cell<Place> = const { Cell::new(Place { file: [0; 96], length: 0, line: 0 }) };
}

/// A place in the source: the end of the file's name, and the line.
#[derive(Clone, Copy)]
struct Place {
    file: [u8; 96],
    length: usize,
    line: u32,
}

impl Place {
    fn new(location: Option<&Location<'_>>) -> Self {
        let mut place = Self { file: [0; 96], length: 0, line: 0 };
        if let Some(location) = location {
            let name = location.file().as_bytes();
            let end = &name[name.len().saturating_sub(place.file.len())..];
            place.file[..end.len()].copy_from_slice(end);
            place.length = end.len();
            place.line = location.line();
        }
        place
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", String::from_utf8_lossy(&self.file[..self.length]), self.line)
    }
}

/// Panics on demand, to show that none gets past the door.
#[cfg(feature = "fault-injection")]
pub mod fault {
    use std::sync::atomic::{AtomicI32, Ordering};

    use crate::error::Code;

    static TARGET: AtomicI32 = AtomicI32::new(0);

    /// The next call of the named callback panics. False if there is no such callback.
    pub fn aim<F: Code>(name: &str) -> bool {
        let target = F::ALL.iter().find(|f| f.text().to_bytes() == name.as_bytes());
        TARGET.store(target.map_or(0, |f| f.number()), Ordering::SeqCst);
        target.is_some()
    }

    pub(super) fn strike<F: Code>(callback: F) {
        if TARGET.compare_exchange(callback.number(), 0, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            let secret = [0x5e, 0xc2, 0xe7];
            assert_eq!(secret, [0; 3], "an injected panic, whose message must not be printed");
        }
    }
}
