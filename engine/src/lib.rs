//! The engNTRU ENGINE.
