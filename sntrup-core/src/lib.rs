//! Streamlined NTRU Prime.
#![deny(unsafe_code)]

mod backend;
#[cfg(feature = "probe")]
#[doc(hidden)]
pub mod probe;
