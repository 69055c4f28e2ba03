//! Values that a forked child must not share with its parent, and how a child is told from its parent.
//!
//! The secrets of such a value live in [`Pages`], memory that the kernel itself wipes in every child that gets a copy
//! of the address space (madvise MADV_WIPEONFORK), whichever call made the child: fork, clone, nested, in another PID
//! namespace. A non-zero byte in the same memory marks it as this process's own, so one read tells a child. The child
//! then puts a fresh value in the place of the old one, whose lock may be held by a thread that the child does not have.
//!
//! A child that shares the address space (CLONE_VM) shares the value too, lock included, and that is right: a process
//! number would raise a false alarm there. Where the kernel cannot wipe on fork, a comparison of process numbers
//! decides instead, and the child wipes the copy at its first use; it is blind only to a child with the same number in
//! another PID namespace.
//!
//! This file holds all unsafe code of the crate outside the SIMD backends, the wiped memory and one call in `refill`.

use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

use crate::error::Error;

/// Zeroed memory of this process alone, in pages of its own; kept out of core dumps.
pub(crate) struct Pages {
    start: NonNull<AtomicU8>,
    /// Bytes of the mapping: the marker's and the caller's.
    len: usize,
    /// Process that made the mapping, if the kernel does not wipe it in children.
    owner: Option<libc::pid_t>,
}

// SAFETY: the mapping is used through atomics only, and it belongs to the value like memory of a Box.
unsafe impl Send for Pages {}
// SAFETY: as above; no method hands out anything but shared references to atomics.
unsafe impl Sync for Pages {}

impl Pages {
    /// Maps `bytes` zeroed bytes.
    ///
    /// # Errors
    /// [`Error::Memory`] if the operating system has none.
    pub(crate) fn map(bytes: usize) -> Result<Self, Error> {
        Self::map_with(bytes, wipes_on_fork())
    }

    /// As [`Self::map`]; without `wiped_on_fork`, in the way for kernels that cannot wipe on fork.
    fn map_with(bytes: usize, wiped_on_fork: bool) -> Result<Self, Error> {
        let len = bytes + 1;
        // SAFETY: a new anonymous private mapping at an address of the kernel's choice touches no existing memory.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(Error::Memory { bytes });
        }
        let start =
            NonNull::new(start).expect("the kernel maps nothing at address 0 unless asked to").cast::<AtomicU8>();
        let advise = |advice| {
            // SAFETY: the range is the mapping that was just made; the advice changes what children and core dumps see.
            unsafe { libc::madvise(start.as_ptr().cast(), len, advice) == 0 }
        };
        let wiped = wiped_on_fork && advise(libc::MADV_WIPEONFORK);
        advise(libc::MADV_DONTDUMP); // a kernel without it only makes larger core dumps
        let pages = Self { start, len, owner: (!wiped).then(process) };
        pages.all()[0].store(1, Ordering::Relaxed);
        Ok(pages)
    }

    /// All bytes of the mapping; the first is the marker.
    fn all(&self) -> &[AtomicU8] {
        // SAFETY: `start` and `len` are those of a readable and writable mapping that lives as long as `self`; mapped
        // memory is initialised, AtomicU8 has the layout of u8, and all accesses go through atomics.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// The caller's bytes. They are atomics so that a child may wipe what another thread of its parent was writing.
    pub(crate) fn bytes(&self) -> &[AtomicU8] {
        &self.all()[1..]
    }

    /// Whether this process is a forked child of the one that made the mapping.
    pub(crate) fn is_foreign(&self) -> bool {
        match self.owner {
            None => self.all()[0].load(Ordering::Relaxed) == 0,
            Some(owner) => owner != process(),
        }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own and no reference to it outlives the value.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// Number of this process.
fn process() -> libc::pid_t {
    // SAFETY: getpid has no preconditions.
    unsafe { libc::getpid() }
}

/// Whether the kernel can be believed about MADV_WIPEONFORK: some emulators accept every advice and do nothing, so an
/// advice that does not exist must be refused.
fn wipes_on_fork() -> bool {
    // SAFETY: advice on an empty range changes nothing; the kernel checks the number first.
    unsafe { libc::madvise(ptr::null_mut(), 0, -1) != 0 }
}

/// A value that can tell whether it was inherited by a fork.
pub(crate) trait Inherited: Sized {
    /// A fresh value for this process.
    fn fresh() -> Result<Self, Error>;
    /// Whether this process got the value from its parent.
    fn is_foreign(&self) -> bool;
    /// Wipes the inherited value without taking its locks, which threads of the parent may hold for ever.
    fn abandon(&self);
}

/// The value and the one that it replaced.
struct Node<T> {
    value: T,
    /// The parent's value; kept, since another thread of this process may still be asking it whether it is foreign.
    inherited: *mut Node<T>,
}

/// A value that is made at its first use and made anew at the first use in a forked child.
pub(crate) struct PerProcess<T> {
    head: AtomicPtr<Node<T>>,
    owns: PhantomData<T>,
}

// SAFETY: nodes are shared between threads as &T and are dropped by whichever thread drops the whole.
unsafe impl<T: Send + Sync> Send for PerProcess<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for PerProcess<T> {}

impl<T: Inherited> PerProcess<T> {
    pub(crate) const fn new() -> Self {
        Self { head: AtomicPtr::new(ptr::null_mut()), owns: PhantomData }
    }

    /// This process's value, if there is one already.
    pub(crate) fn get(&self) -> Option<&T> {
        let head = self.head.load(Ordering::Acquire);
        // SAFETY: a non-null head came from Box::into_raw in `get_or_make`, was published with Release, and is freed
        // only by drop, which has exclusive access.
        let value = unsafe { head.as_ref() }.map(|node| &node.value)?;
        (!value.is_foreign()).then_some(value)
    }

    /// This process's value, made now if there is none.
    pub(crate) fn get_or_make(&self) -> Result<&T, Error> {
        loop {
            let head = self.head.load(Ordering::Acquire);
            if let Some(value) = self.get() {
                return Ok(value);
            }
            let node = Box::into_raw(Box::new(Node { value: T::fresh()?, inherited: head }));
            if self.head.compare_exchange(head, node, Ordering::AcqRel, Ordering::Acquire).is_err() {
                // SAFETY: the node came from Box::into_raw above and nobody else has seen it.
                drop(unsafe { Box::from_raw(node) });
                continue;
            }
            // SAFETY: as in `get`. Here the head that was replaced is null or a parent's value.
            if let Some(inherited) = unsafe { head.as_ref() } {
                inherited.value.abandon();
            }
        }
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        let mut node = *self.head.get_mut();
        while !node.is_null() {
            // SAFETY: every node of the chain came from Box::into_raw, is in the chain once, and drop has exclusive
            // access to the chain.
            node = unsafe { Box::from_raw(node) }.inherited;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether `check` holds in a forked child. It may allocate: the C library's fork keeps the allocator usable.
    fn holds_in_child(check: impl Fn() -> bool) -> bool {
        // SAFETY: the child runs `check`, which takes no lock but the allocator's, and leaves by _exit.
        unsafe {
            let pid = libc::fork();
            if pid == 0 {
                libc::_exit(if check() { 0 } else { 1 });
            }
            assert!(pid > 0);
            let mut status = 0;
            assert_eq!(libc::waitpid(pid, &mut status, 0), pid);
            assert!(libc::WIFEXITED(status));
            libc::WEXITSTATUS(status) == 0
        }
    }

    #[test]
    fn the_kernel_wipes_the_pages_in_a_child() {
        let pages = Pages::map(100_000).unwrap();
        assert!(pages.owner.is_none(), "this kernel does not wipe on fork (Linux 4.14 and later do)");
        assert_eq!(pages.bytes().len(), 100_000);
        pages.bytes().iter().for_each(|byte| byte.store(0x77, Ordering::Relaxed));
        assert!(!pages.is_foreign());
        assert!(holds_in_child(|| pages.is_foreign()));
        assert!(holds_in_child(|| pages.bytes().iter().all(|byte| byte.load(Ordering::Relaxed) == 0)));
        assert!(!pages.is_foreign() && pages.bytes().iter().all(|byte| byte.load(Ordering::Relaxed) == 0x77));
    }

    #[test]
    fn without_wiping_the_process_number_decides() {
        let pages = Pages::map_with(100, false).unwrap();
        pages.bytes()[0].store(0x77, Ordering::Relaxed);
        assert!(!pages.is_foreign());
        assert!(holds_in_child(|| pages.is_foreign() && pages.bytes()[0].load(Ordering::Relaxed) == 0x77));
    }

    #[test]
    fn no_memory_is_an_error() {
        assert_eq!(Pages::map(1 << 60).err(), Some(Error::Memory { bytes: 1 << 60 }));
    }

    /// Pages that the process number guards, wiped by whoever inherits them.
    struct Numbered(Pages);

    impl Inherited for Numbered {
        fn fresh() -> Result<Self, Error> {
            Pages::map_with(8, false).map(Self)
        }

        fn is_foreign(&self) -> bool {
            self.0.is_foreign()
        }

        fn abandon(&self) {
            self.0.bytes()[0].store(0, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_child_replaces_and_wipes_what_it_inherits() {
        let value = PerProcess::<Numbered>::new();
        assert!(value.get().is_none());
        let first = value.get_or_make().unwrap_or_else(|_| panic!("no memory"));
        first.0.bytes()[0].store(0x77, Ordering::Relaxed);
        assert!(ptr::eq(value.get().unwrap(), first));
        assert!(holds_in_child(|| {
            let none_yet = value.get().is_none();
            let Ok(own) = value.get_or_make() else { return false };
            none_yet
                && !ptr::eq(own, first)
                && first.0.bytes()[0].load(Ordering::Relaxed) == 0
                && value.get().is_some_and(|again| ptr::eq(own, again))
        }));
        assert_eq!(first.0.bytes()[0].load(Ordering::Relaxed), 0x77);
    }
}
