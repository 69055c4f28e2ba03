//! The arithmetic kernels, written once over sixteen lanes.
#![allow(dead_code)]

pub(crate) mod constants;
pub(crate) mod lanes;
pub(crate) mod transform;
