//! Requests to valgrind, for the constant-time check and the instruction counts; never part of a shipped build.
//!
//! Memcheck follows which bits are undefined. The check marks every secret bit as undefined, so that memcheck reports
//! each branch and each address that depends on one. This file is compiled into the library only with `--cfg ct_check`
//! (see `scripts/check-constant-time`) and into the tools in `tests/checks`. Outside valgrind a request does nothing.

#![allow(dead_code, reason = "each user needs some of the requests")]

use std::ffi::CStr;

/// Numbers of the requests, from valgrind's headers: the core's own, memcheck's and callgrind's.
mod number {
    const MEMCHECK: usize = tool(b'M', b'C');
    const CALLGRIND: usize = tool(b'C', b'T');

    const fn tool(a: u8, b: u8) -> usize {
        (a as usize) << 24 | (b as usize) << 16
    }

    pub(super) const RUNNING_ON_VALGRIND: usize = 0x1001;
    pub(super) const COUNT_ERRORS: usize = 0x1201;
    pub(super) const MAKE_MEM_UNDEFINED: usize = MEMCHECK + 1;
    pub(super) const MAKE_MEM_DEFINED: usize = MEMCHECK + 2;
    pub(super) const GET_VBITS: usize = MEMCHECK + 8;
    pub(super) const ZERO_STATS: usize = CALLGRIND + 1;
    pub(super) const DUMP_STATS_AT: usize = CALLGRIND + 3;
}

/// Sends a request and returns valgrind's answer; 0 outside valgrind.
///
/// # Safety
/// The arguments must be what the request expects: memory that it names must be valid for what the request does.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
unsafe fn request(number: usize, arguments: [usize; 3]) -> usize {
    let block = [number, arguments[0], arguments[1], arguments[2], 0, 0];
    let mut answer = 0usize;
    // SAFETY: on a processor the four rotations by 128 bits in all and the exchange of a register with itself change
    // nothing but flags. Valgrind knows the sequence, reads the block at rax and puts the answer into rdx; what it does
    // beyond that is the caller's promise.
    unsafe {
        core::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            inout("rax") block.as_ptr() => _,
            inout("rdx") answer,
            options(nostack),
        );
    }
    answer
}

/// There is no sequence for this processor here, so that every request says that valgrind is not there.
///
/// # Safety
/// Always safe.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn request(_number: usize, _arguments: [usize; 3]) -> usize {
    0
}

/// True below valgrind, whichever its tool.
pub(crate) fn running() -> bool {
    // SAFETY: the request takes no arguments.
    unsafe { request(number::RUNNING_ON_VALGRIND, [0; 3]) != 0 }
}

/// The number of errors that the tool has found so far.
pub(crate) fn errors() -> usize {
    // SAFETY: the request takes no arguments.
    unsafe { request(number::COUNT_ERRORS, [0; 3]) }
}

/// Marks values as secret: memcheck takes them, and all that is computed from them, for undefined.
pub(crate) fn mark_secret<T: Copy>(values: &mut [T]) {
    let place = [values.as_mut_ptr() as usize, size_of_val(values), 0];
    // SAFETY: the request changes valgrind's notes about this memory, not the memory.
    unsafe { request(number::MAKE_MEM_UNDEFINED, place) };
}

/// Marks values as public.
pub(crate) fn mark_public<T: Copy>(values: &mut [T]) {
    let place = [values.as_mut_ptr() as usize, size_of_val(values), 0];
    // SAFETY: as in `mark_secret`.
    unsafe { request(number::MAKE_MEM_DEFINED, place) };
}

/// The number of secret (undefined) bits among the bytes; 0 outside memcheck.
pub(crate) fn secret_bits(bytes: &[u8]) -> u32 {
    let mut bits = vec![0u8; bytes.len()];
    // SAFETY: the request reads the notes about `bytes` and writes as many bytes to `bits`, which has that length.
    unsafe { request(number::GET_VBITS, [bytes.as_ptr() as usize, bits.as_mut_ptr() as usize, bytes.len()]) };
    bits.iter().map(|byte| byte.count_ones()).sum()
}

/// Sets callgrind's counters to zero.
pub(crate) fn zero_counts() {
    // SAFETY: the request takes no arguments.
    unsafe { request(number::ZERO_STATS, [0; 3]) };
}

/// Lets callgrind write its counters, with a name, and sets them to zero.
pub(crate) fn dump_counts(name: &CStr) {
    // SAFETY: the request reads the string up to its end.
    unsafe { request(number::DUMP_STATS_AT, [name.as_ptr() as usize, 0, 0]) };
}
