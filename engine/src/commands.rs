//! Control commands: settings, for openssl.cnf and programs, and read-outs.
//!
//! A read-out given a buffer (ENGINE_ctrl with its size and address) writes its text there, ended by a NUL byte; without
//! one (`openssl engine -pre VERSION`) it prints a line to standard output. Numbers stay as they are, since programs may
//! use them.

use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_void};
use std::ptr;

use engntru_common::settings;

use crate::error::{Error, Reason};
use crate::ffi::returns::Reply;
use crate::ffi::sys::{self, ENGINE_CMD_DEFN};

const BATCH_SIZE: c_uint = sys::ENGINE_CMD_BASE;
const BACKEND: c_uint = sys::ENGINE_CMD_BASE + 1;
const VERSION: c_uint = sys::ENGINE_CMD_BASE + 2;
const BACKEND_IN_USE: c_uint = sys::ENGINE_CMD_BASE + 3;
const STOCK_LEVEL: c_uint = sys::ENGINE_CMD_BASE + 4;
const BACKGROUND_REFILL: c_uint = sys::ENGINE_CMD_BASE + 5;
#[cfg(feature = "fault-injection")]
const INJECT_PANIC: c_uint = sys::ENGINE_CMD_BASE + 99;

struct Definitions<const N: usize>([ENGINE_CMD_DEFN; N]);

// SAFETY: the table is constant, and so are the strings that it points to.
unsafe impl<const N: usize> Sync for Definitions<N> {}

const fn define(number: c_uint, name: &'static CStr, description: &'static CStr, flags: c_uint) -> ENGINE_CMD_DEFN {
    ENGINE_CMD_DEFN { cmd_num: number, cmd_name: name.as_ptr(), cmd_desc: description.as_ptr(), cmd_flags: flags }
}

/// In rising order of number, as OpenSSL wants it, ended by zeros.
static DEFINITIONS: Definitions<{ if cfg!(feature = "fault-injection") { 8 } else { 7 } }> = Definitions([
    define(
        BATCH_SIZE,
        c"BATCH_SIZE",
        c"Key pairs made at a time for the stock, 1 to 1024 (32 unless set)",
        sys::ENGINE_CMD_FLAG_NUMERIC,
    ),
    define(
        BACKEND,
        c"BACKEND",
        c"Which implementation computes: auto (the fastest that this processor runs) or a name, such as portable",
        sys::ENGINE_CMD_FLAG_STRING,
    ),
    define(VERSION, c"VERSION", c"Tells the version of the engine", sys::ENGINE_CMD_FLAG_NO_INPUT),
    define(
        BACKEND_IN_USE,
        c"BACKEND_IN_USE",
        c"Tells which implementation computes now",
        sys::ENGINE_CMD_FLAG_NO_INPUT,
    ),
    define(
        STOCK_LEVEL,
        c"STOCK_LEVEL",
        c"Tells how many ready key pairs the stock of each scheme holds",
        sys::ENGINE_CMD_FLAG_NO_INPUT,
    ),
    define(
        BACKGROUND_REFILL,
        c"BACKGROUND_REFILL",
        c"Whether a thread makes the next key pairs while the stock still holds some: 1 yes, 0 no (0 unless set)",
        sys::ENGINE_CMD_FLAG_NUMERIC,
    ),
    #[cfg(feature = "fault-injection")]
    define(INJECT_PANIC, c"INJECT_PANIC", c"Makes the named callback panic, once", sys::ENGINE_CMD_FLAG_STRING),
    ENGINE_CMD_DEFN { cmd_num: 0, cmd_name: ptr::null(), cmd_desc: ptr::null(), cmd_flags: 0 },
]);

/// The table of commands, for ENGINE_set_cmd_defns.
pub(crate) fn definitions() -> *const ENGINE_CMD_DEFN {
    DEFINITIONS.0.as_ptr()
}

/// Carries a command out.
///
/// # Safety
/// `text` must be what the command's flags say: for a string command NULL or a C string; for a read-out NULL or
/// `number` writable bytes; for others it is not looked at.
pub(crate) unsafe fn execute(command: c_int, number: c_long, text: *mut c_void) -> Result<Reply, Error> {
    let Ok(command) = c_uint::try_from(command) else {
        return Ok(Reply::Unsupported);
    };
    match command {
        BATCH_SIZE => settings::set_batch_size(number)?,
        BACKGROUND_REFILL => match number {
            0 | 1 => settings::set_background_refill(number == 1),
            _ => {
                let detail = format!("BACKGROUND_REFILL = {number}: give 0 or 1");
                return Err(Error::new(Reason::BadBackgroundRefill).with(detail));
            }
        },
        // SAFETY: the caller's contract.
        BACKEND => settings::set_backend(unsafe { argument(text) }?)?,
        // SAFETY: the caller's contract.
        VERSION => unsafe { tell(number, text, settings::VERSION) }?,
        // SAFETY: the caller's contract.
        BACKEND_IN_USE => unsafe { tell(number, text, &settings::backend_in_use()) }?,
        // SAFETY: the caller's contract.
        STOCK_LEVEL => unsafe { tell(number, text, &settings::stock_level()) }?,
        #[cfg(feature = "fault-injection")]
        INJECT_PANIC => {
            // SAFETY: the caller's contract.
            if !engntru_common::guard::fault::aim::<crate::error::Function>(unsafe { argument(text) }?) {
                return Err(Error::new(Reason::NullArgument).with("no such callback"));
            }
        }
        _ => return Ok(Reply::Unsupported),
    }
    Ok(Reply::Done)
}

/// # Safety
/// `text` must be NULL or a C string that lives as long as it is used.
unsafe fn argument<'call>(text: *const c_void) -> Result<&'call str, Error> {
    if text.is_null() {
        return Err(Error::new(Reason::NullArgument).with("the command needs a value"));
    }
    // SAFETY: the caller's contract.
    let text = unsafe { CStr::from_ptr(text.cast::<c_char>()) };
    text.to_str().map_err(|_| Error::new(Reason::BadEncoding).with("the value is not UTF-8"))
}

/// Writes `answer` to the buffer, or to standard output if there is none.
///
/// # Safety
/// `buffer` must be NULL or `size` writable bytes.
unsafe fn tell(size: c_long, buffer: *mut c_void, answer: &str) -> Result<(), Error> {
    if buffer.is_null() {
        return print(&format!("{answer}\n"));
    }
    let size = usize::try_from(size).unwrap_or(0);
    if size <= answer.len() {
        let needed = answer.len() + 1;
        return Err(Error::new(Reason::BufferTooSmall).with(format!("{needed} bytes needed, {size} given")));
    }
    // SAFETY: there is room for the answer and its end mark, by the caller's contract and the check above.
    unsafe {
        ptr::copy_nonoverlapping(answer.as_ptr(), buffer.cast(), answer.len());
        buffer.cast::<u8>().add(answer.len()).write(0);
    }
    Ok(())
}

/// Straight to the file descriptor: Rust's own buffered output would be flushed by nobody when the program ends.
fn print(text: &str) -> Result<(), Error> {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        // SAFETY: `rest` is readable for its length.
        let written = unsafe { libc::write(libc::STDOUT_FILENO, rest.as_ptr().cast(), rest.len()) };
        match usize::try_from(written) {
            Ok(n) if n > 0 => rest = &rest[n..],
            Err(_) if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
            _ => {
                return Err(Error::new(Reason::Libcrypto).with("standard output cannot be written"));
            }
        }
    }
    Ok(())
}
