//! Zeroed memory, kept from one operation of a thread for its next.
//!
//! An operation needs some twenty pieces of one to four kilobytes for a few microseconds. Malloc and filling with zeros
//! would take a fifth of its time. A piece comes back wiped, so the next owner finds zeros without filling; the shelves of
//! a thread hold what it used at once, but of each size at most 128 pieces and 256 kB, and are freed when the thread ends.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::RefCell;
use std::ptr::NonNull;

/// Alignment of every piece: that of a cache line.
pub(super) const ALIGNMENT: usize = 64;
/// Sizes of pieces that are kept: 64 bytes, doubled up to 16 kB.
const SIZES: usize = 9;
/// Most pieces of one size on a shelf: the keys and elements of a batch of 32.
const MOST: usize = 128;
/// Most bytes of one size on a shelf.
const MOST_BYTES: usize = 256 << 10;

/// The size number of pieces of at least this many bytes, or `None` if so large ones are not kept.
fn size_number(bytes: usize) -> Option<usize> {
    let number = bytes.div_ceil(ALIGNMENT).next_power_of_two().ilog2() as usize;
    (number < SIZES).then_some(number)
}

/// A stack of pieces of one size, owned by the shelf. Each begins with the address of the next, and is zero otherwise.
#[derive(Clone, Copy)]
struct Shelf {
    top: Option<NonNull<u8>>,
    count: usize,
}

struct Shelves([Shelf; SIZES]);

impl Shelves {
    fn pop(&mut self, size: usize) -> Option<NonNull<u8>> {
        let shelf = &mut self.0[size];
        let start = shelf.top?;
        // SAFETY: the shelf owns the piece, which is large enough for an address and aligned for it; `push` wrote it there.
        shelf.top = unsafe { start.cast::<Option<NonNull<u8>>>().replace(None) };
        shelf.count -= 1;
        Some(start)
    }

    /// Puts a piece, which is zero, on its shelf, if there is room.
    fn push(&mut self, size: usize, start: NonNull<u8>) -> bool {
        let shelf = &mut self.0[size];
        let room = shelf.count < MOST.min(MOST_BYTES >> (size + ALIGNMENT.ilog2() as usize));
        if room {
            // SAFETY: the piece is the caller's and becomes the shelf's; it is large enough for an address and aligned for it.
            unsafe { start.cast::<Option<NonNull<u8>>>().write(shelf.top) };
            shelf.top = Some(start);
            shelf.count += 1;
        }
        room
    }
}

impl Drop for Shelves {
    fn drop(&mut self) {
        for size in 0..SIZES {
            while let Some(start) = self.pop(size) {
                // SAFETY: the shelf owned this piece, which was allocated with this layout.
                unsafe { dealloc(start.as_ptr(), layout(ALIGNMENT << size)) };
            }
        }
    }
}

thread_local! {
    static SHELVES: RefCell<Shelves> =
        const { RefCell::new(Shelves([Shelf { top: None, count: 0 }; SIZES])) };
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, ALIGNMENT).expect("a piece that exists is no larger than memory")
}

/// An exclusively owned piece of memory. Its owner wipes it before it is dropped.
pub(super) struct Piece {
    start: NonNull<u8>,
    /// Bytes that were allocated, at least 1.
    bytes: usize,
}

// SAFETY: a piece is plain memory with one owner; the shelf that it comes from and the one that it goes to are reached by
// their own threads alone.
unsafe impl Send for Piece {}
// SAFETY: a shared piece only tells its address.
unsafe impl Sync for Piece {}

impl Piece {
    /// At least `bytes` bytes, zero and aligned to [`ALIGNMENT`]; `None` if there is no memory for them.
    pub(super) fn zeroed(bytes: usize) -> Option<Self> {
        let size = size_number(bytes);
        let bytes = size.map_or(bytes, |size| ALIGNMENT << size);
        // A thread that is ending has no shelves any more.
        let kept = size.and_then(|size| SHELVES.try_with(|shelves| shelves.borrow_mut().pop(size)).ok().flatten());
        let start = match kept {
            Some(start) => start,
            // SAFETY: `bytes` is not zero.
            None => NonNull::new(unsafe { alloc_zeroed(Layout::from_size_align(bytes, ALIGNMENT).ok()?) })?,
        };
        Some(Self { start, bytes })
    }

    /// The first byte.
    #[inline(always)]
    pub(super) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        // SAFETY: the piece is this long, all of it was written when it was made, and nobody else has it.
        debug_assert!(unsafe { std::slice::from_raw_parts(self.start(), self.bytes) }.iter().all(|&byte| byte == 0));
        let size = size_number(self.bytes);
        let kept = size.is_some_and(|size| {
            SHELVES.try_with(|shelves| shelves.borrow_mut().push(size, self.start)).unwrap_or(false)
        });
        if !kept {
            // SAFETY: the piece was allocated with this layout, and goes with its owner.
            unsafe { dealloc(self.start(), layout(self.bytes)) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_as_large_as_asked_for_and_aligned() {
        for bytes in (0..300).chain([4095, 4096, 4097, 16_384, 16_385, 100_000]) {
            let piece = Piece::zeroed(bytes).unwrap();
            assert!(piece.bytes >= bytes.max(1));
            assert_eq!(piece.start() as usize & (ALIGNMENT - 1), 0);
        }
    }

    #[test]
    fn a_thread_keeps_a_bounded_number_of_pieces() {
        std::thread::spawn(|| {
            for size in 0..SIZES {
                drop((0..200).map(|_| Piece::zeroed(ALIGNMENT << size).unwrap()).collect::<Vec<_>>());
            }
            drop((0..100).map(|_| Piece::zeroed((ALIGNMENT << SIZES) + 1).unwrap()).collect::<Vec<_>>());
            let kept = SHELVES.with_borrow(|shelves| shelves.0.map(|shelf| shelf.count));
            assert_eq!(kept, [128, 128, 128, 128, 128, 128, 64, 32, 16]);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_piece_comes_back_to_the_next_owner() {
        let start = Piece::zeroed(1000).unwrap().start();
        assert_eq!(Piece::zeroed(900).unwrap().start(), start);
    }
}
