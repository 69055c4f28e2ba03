//! The provider's section of openssl.cnf.
//!
//! | line | value | holds for |
//! |---|---|---|
//! | `BATCH_SIZE` | key pairs made at a time for the stock, 1 to 1024 | the process |
//! | `BACKGROUND_REFILL` | `on`: a thread makes the next batch while the stock still holds some; `off` | the process |
//! | `BACKEND` | `auto`, or the name of an implementation | the process |
//! | `TLS_GROUP_ID_…` | a group's code point, decimal or `0x…`; `none` leaves the group out | this loading |
//!
//! A provider is asked for lines by name, so a misspelled name cannot be reported.

use std::ffi::CStr;

use engntru_common::settings;

use crate::error::{Error, Reason};
use crate::ffi::upcalls::Core;

/// Sets what is of the process. A line that is not there leaves it as it is.
///
/// Errors: [`Reason::BadBatchSize`], [`Reason::BadBackgroundRefill`], [`Reason::BadBackend`].
pub(crate) fn apply(core: Core) -> Result<(), Error> {
    if let Some(text) = core.setting(c"BATCH_SIZE") {
        let number = text
            .trim()
            .parse()
            .map_err(|_| Error::new(Reason::BadBatchSize).with(format!("BATCH_SIZE = {text}: this is no number")))?;
        settings::set_batch_size(number)?;
    }
    if let Some(text) = core.setting(c"BACKGROUND_REFILL") {
        settings::set_background_refill(match text.trim() {
            "on" => true,
            "off" => false,
            _ => {
                let detail = format!("BACKGROUND_REFILL = {text}: give on or off");
                return Err(Error::new(Reason::BadBackgroundRefill).with(detail));
            }
        });
    }
    if let Some(name) = core.setting(c"BACKEND") {
        settings::set_backend(name.trim())?;
    }
    #[cfg(feature = "fault-injection")]
    if let Some(name) = core.setting(c"INJECT_PANIC") {
        engntru_common::guard::fault::aim::<crate::error::Function>(&name);
    }
    Ok(())
}

/// The code point of a group, `usual` unless there is a line; `None` if the group is left out.
///
/// Errors: [`Reason::BadGroup`] if it is no number of 16 bits, or the number of a group that OpenSSL has itself.
pub(crate) fn group(core: Core, line: &CStr, usual: u16) -> Result<Option<u16>, Error> {
    let Some(text) = core.setting(line) else { return Ok(Some(usual)) };
    let bad = |why| Error::new(Reason::BadGroup).with(format!("{} = {text}: {why}", line.to_string_lossy()));
    let text = text.trim();
    if text == "none" {
        return Ok(None);
    }
    let number = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u16::from_str_radix(digits, 16),
        None => text.parse(),
    };
    let number = number.map_err(|_| bad("give a number from 0x0200 to 0xFFFF, or none"))?;
    // Curves and finite fields lie below 0x0200, ML-KEM and its hybrids from 0x0200 to 0x0202 and 0x11EB to 0x11ED.
    // OpenSSL takes the first of two groups with one number, without a word.
    match number {
        ..0x0200 | 0x0200..=0x0202 | 0x11EB..=0x11ED => Err(bad("this number belongs to a group of OpenSSL")),
        _ => Ok(Some(number)),
    }
}
