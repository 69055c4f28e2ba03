//! Encodings (specification, section "Encodings"): small elements, R/q and rounded elements, and the secret key.

pub(crate) mod key;
pub(crate) mod radix;
pub(crate) mod small;
