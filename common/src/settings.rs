//! The settings that openssl.cnf gives, and the read-outs: the same for engine and provider.

use sntrup_core::{Backend, DEFAULT_BATCH_SIZE, MAX_BATCH};

use crate::error::{Error, Reason};
use crate::scheme::STOCKS;

/// The version of this software.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Sets the number of key pairs that each stock makes at a time.
///
/// Errors: [`Reason::BadBatchSize`] unless it is in 1..=[`MAX_BATCH`].
pub fn set_batch_size(number: i64) -> Result<(), Error> {
    let size = usize::try_from(number).ok().filter(|size| (1..=MAX_BATCH).contains(size));
    let Some(size) = size else {
        return Err(Error::new(Reason::BadBatchSize).with(format!("BATCH_SIZE = {number}: give 1 to {MAX_BATCH}")));
    };
    for stock in &STOCKS {
        (stock.set_batch_size)(size)?;
    }
    Ok(())
}

/// Sets whether a thread makes the next batch while a stock still holds some pairs.
pub fn set_background_refill(on: bool) {
    for stock in &STOCKS {
        (stock.set_background_refill)(on);
    }
}

/// Selects what computes: `auto`, or a backend by its name.
///
/// Errors: [`Reason::BadBackend`], with the names that there are.
pub fn set_backend(name: &str) -> Result<(), Error> {
    if name == "auto" {
        select_best_backend();
        return Ok(());
    }
    match name.parse::<Backend>().map(Backend::select) {
        Ok(Ok(())) => Ok(()),
        _ => {
            let available: Vec<_> = Backend::available().iter().map(Backend::to_string).collect();
            let detail = format!("BACKEND = {name}: this processor has auto, {}", available.join(", "));
            Err(Error::new(Reason::BadBackend).with(detail))
        }
    }
}

/// The choice that `auto` makes: sntrup-core lists its fastest backend last.
fn select_best_backend() {
    if let Some(best) = Backend::available().last() {
        // A backend that is listed as available can be selected.
        let _ = Backend::select(*best);
    }
}

/// The name of what computes now.
#[must_use]
pub fn backend_in_use() -> String {
    Backend::active().to_string()
}

/// How many ready key pairs each stock holds, as `sntrup761=31 sntrup857=0`.
#[must_use]
pub fn stock_level() -> String {
    STOCKS.each_ref().map(|stock| format!("{}={}", stock.name, (stock.level)())).join(" ")
}

/// Wipes the stocks and sets everything as it was at first. No thread is left afterwards.
pub fn reset() {
    set_background_refill(false);
    for stock in &STOCKS {
        (stock.clear)();
        // The default is a valid size.
        let _ = (stock.set_batch_size)(DEFAULT_BATCH_SIZE);
    }
    select_best_backend();
}
