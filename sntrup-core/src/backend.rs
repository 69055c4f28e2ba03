//! The arithmetic kernels, written once over sixteen lanes.
#![allow(dead_code)]

pub(crate) mod chacha20;
pub(crate) mod constants;
#[cfg(target_arch = "x86_64")]
mod entry;
pub(crate) mod lanes;
pub(crate) mod sha512;
pub(crate) mod sort;
pub(crate) mod transform;
mod words;
