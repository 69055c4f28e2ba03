//! What `ct::declassify` does in the constant-time check (`--cfg ct_check`, never in a shipped build): it unmarks the
//! values for memcheck and counts how often each disclosure happens.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use crate::ct::Disclosed;
use crate::valgrind;

static COUNTS: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

/// Makes values public to memcheck.
pub(crate) fn declassify_all<T: Copy>(values: &mut [T], what: Disclosed) {
    valgrind::mark_public(values);
    *COUNTS.lock().entry(format!("{what:?}")).or_default() += 1;
}

/// The names of the disclosures so far, and how often each happened.
pub fn disclosures() -> BTreeMap<String, u64> {
    COUNTS.lock().clone()
}
