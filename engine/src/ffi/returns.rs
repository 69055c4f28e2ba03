//! Return conventions: each kind of callback answers C in its own way, and each way is a type here.

use std::ffi::c_int;

pub(crate) use engntru_common::guard::{Convention, Done, Nothing};

/// Control functions: 1 (or a positive number), 0 for failure, -2 for a request that is not ours.
pub(crate) enum Reply {
    /// Done.
    Done,
    /// Done, and the number answers the request; it is positive.
    Number(c_int),
    /// No such request here; the caller decides what that means, so it is no error of ours.
    Unsupported,
}

impl Convention for Reply {
    type C = c_int;
    const FAILED: c_int = 0;
    fn into_c(self) -> c_int {
        match self {
            Reply::Done => 1,
            Reply::Number(n) => n,
            Reply::Unsupported => -2,
        }
    }
}

/// Comparisons: 1 equal, 0 different, -2 cannot be compared.
#[derive(Clone, Copy)]
pub(crate) enum Comparison {
    /// Both are the same.
    Equal,
    /// They differ.
    Different,
    /// One of them holds no key.
    Incomparable,
}

impl Convention for Comparison {
    type C = c_int;
    const FAILED: c_int = -2;
    fn into_c(self) -> c_int {
        match self {
            Comparison::Equal => 1,
            Comparison::Different => 0,
            Comparison::Incomparable => Self::FAILED,
        }
    }
}

/// Sizes and counts: a positive number, 0 for failure.
pub(crate) struct Number(pub(crate) c_int);

impl Convention for Number {
    type C = c_int;
    const FAILED: c_int = 0;
    fn into_c(self) -> c_int {
        self.0
    }
}

/// Lookups: 1 found, 0 not ours, without an error-queue entry.
pub(crate) struct Found(pub(crate) bool);

impl Convention for Found {
    type C = c_int;
    const FAILED: c_int = 0;
    fn into_c(self) -> c_int {
        c_int::from(self.0)
    }
}
