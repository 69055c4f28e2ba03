//! Ring elements, one type for each ring and each domain: the type says which values an element can have.
//!
//! All of them hold coefficients on the heap, least significant first, padded with zeros, wiped when dropped.

mod folded;
mod r3;
mod rounded;
mod rq;
mod short;

pub(crate) use folded::Folded;
pub(crate) use r3::R3;
pub(crate) use rounded::Rounded;
pub(crate) use rq::Rq;
pub(crate) use short::Short;
