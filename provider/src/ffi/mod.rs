//! Everything that touches C: declarations, the one door, parameters, what the core offers, and objects that C holds.

pub(crate) mod guard;
pub(crate) mod handles;
pub(crate) mod params;
pub(crate) mod sys;
pub(crate) mod upcalls;
