//! Everything that touches C: declarations, the one door, references and return conventions.

pub(crate) mod guard;
pub(crate) mod handles;
pub(crate) mod returns;
pub(crate) mod sys;
