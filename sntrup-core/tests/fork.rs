//! P1 and P3: the stock in forked children, however they are made. This test has its own main function, so that a child
//! of a bare system call inherits no lock of the test harness or of the allocator.
//!
//! Every process reports the keys that it takes and the secrets that it encapsulates to them through one pipe; all of
//! them must be distinct. A child that hangs is ended by an alarm and fails the test.

mod common;

use std::cell::Cell;
use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::FromRawFd;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use common::OsRandom;
use sha2::{Digest, Sha256};
use sntrup_core::{Params, RandomError, RandomSource, Sntrup653, Sntrup761, Stock, decapsulate, encapsulate};

/// Seconds after which a child is taken to hang.
const PATIENCE: u32 = 120;
/// Keys that each process takes.
const KEYS: usize = 64;

/// How a child is made.
#[derive(Clone, Copy)]
enum Fork {
    /// The C library's function.
    Library,
    /// The system call clone, which no handler of the C library sees.
    Clone,
    /// The same into a new PID namespace: the child's process number is 1.
    CloneNewPids,
}

/// Runs `body` in a child and returns its process number.
fn spawn(fork: Fork, body: impl FnOnce()) -> libc::pid_t {
    // SAFETY: the child runs `body` and leaves by _exit; where the parent has other threads, the child uses `fork` of
    // the C library, which keeps the allocator usable.
    let pid = unsafe {
        match fork {
            Fork::Library => libc::fork(),
            Fork::Clone => libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) as libc::pid_t,
            Fork::CloneNewPids => {
                let user = if libc::geteuid() == 0 { 0 } else { libc::CLONE_NEWUSER };
                libc::syscall(libc::SYS_clone, libc::SIGCHLD | libc::CLONE_NEWPID | user, 0, 0, 0, 0) as libc::pid_t
            }
        }
    };
    assert!(
        pid >= 0,
        "cannot fork: {} (a new PID namespace needs CAP_SYS_ADMIN or user namespaces)",
        std::io::Error::last_os_error()
    );
    if pid == 0 {
        // SAFETY: no preconditions.
        unsafe { libc::alarm(PATIENCE) };
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
        // SAFETY: ends the child without running what the parent registered for its exit.
        unsafe { libc::_exit(i32::from(result.is_err())) };
    }
    pid
}

/// Waits for a child and asserts that it ended well.
fn wait(pid: libc::pid_t) {
    let mut status = 0;
    // SAFETY: `status` is a valid place for the result.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    assert!(
        libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0,
        "child {pid}: status {status:#x} (signal 14 means that it hung)"
    );
}

/// The pipe of a scenario.
struct Reports {
    reader: File,
    writer: File,
}

impl Reports {
    fn new() -> Self {
        let mut ends = [0; 2];
        // SAFETY: `ends` has room for two descriptors, which are then owned by the two files.
        unsafe {
            assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
            libc::fcntl(ends[1], libc::F_SETPIPE_SZ, 1 << 20);
            Self { reader: File::from_raw_fd(ends[0]), writer: File::from_raw_fd(ends[1]) }
        }
    }

    /// Takes `n` pairs, uses them, and reports.
    fn take<P: Params>(&self, stock: &Stock<P>, n: usize) {
        for _ in 0..n {
            let pair = stock.take(&mut OsRandom).unwrap();
            let (ciphertext, secret) = encapsulate(pair.public(), &mut OsRandom).unwrap();
            assert_eq!(decapsulate(&ciphertext, pair.secret()).as_bytes(), secret.as_bytes());
            let mut report = Sha256::digest(pair.public().as_bytes()).to_vec();
            report.extend(secret.as_bytes());
            (&self.writer).write_all(&report).unwrap(); // short enough to be written as a whole
        }
    }

    /// Asserts that `expected` pairs were reported, all keys and all secrets distinct.
    fn check(self, expected: usize) {
        let Self { mut reader, writer } = self;
        drop(writer);
        let mut all = Vec::new();
        reader.read_to_end(&mut all).unwrap();
        assert_eq!(all.len(), 64 * expected, "reports");
        let halves: HashSet<&[u8]> = all.chunks(32).collect();
        assert_eq!(halves.len(), 2 * expected, "a key or a secret was seen twice");
    }
}

/// Eight children of a full stock, and the parent goes on.
fn eight_children(fork: Fork) {
    static STOCK: Stock<Sntrup761> = Stock::new();
    let reports = Reports::new();
    reports.take(&STOCK, 1);
    let before = STOCK.level();
    assert!(before > 0);
    let children: Vec<_> = (0..8)
        .map(|_| {
            spawn(fork, || {
                assert_eq!(STOCK.level(), 0, "a child starts with an empty stock");
                reports.take(&STOCK, KEYS);
            })
        })
        .collect();
    reports.take(&STOCK, KEYS);
    children.into_iter().for_each(wait);
    reports.check(1 + 9 * KEYS);
    STOCK.clear();
}

/// Children of children of children, each with a stock that is partly used.
fn nested(fork: Fork) {
    static STOCK: Stock<Sntrup653> = Stock::new();
    fn descend(reports: &Reports, fork: Fork, depth: usize) {
        assert_eq!(STOCK.level(), 0);
        reports.take(&STOCK, 5);
        assert!(STOCK.level() > 0);
        if depth > 0 {
            let children = [(); 2].map(|()| spawn(fork, || descend(reports, fork, depth - 1)));
            reports.take(&STOCK, KEYS - 5);
            children.into_iter().for_each(wait);
        } else {
            reports.take(&STOCK, KEYS - 5);
        }
    }
    let reports = Reports::new();
    descend(&reports, fork, 3);
    reports.check(15 * KEYS);
    STOCK.clear();
}

/// Parent and child both have process number 1, each in its own PID namespace.
fn the_same_process_number() {
    wait(spawn(Fork::CloneNewPids, || {
        let reports = Reports::new();
        let stock = Stock::<Sntrup761>::new();
        reports.take(&stock, 1);
        let child = spawn(Fork::CloneNewPids, || {
            assert_eq!(std::process::id(), 1);
            assert_eq!(stock.level(), 0);
            reports.take(&stock, KEYS);
        });
        assert_eq!(std::process::id(), 1);
        reports.take(&stock, KEYS);
        wait(child);
        reports.check(1 + 2 * KEYS);
    }));
}

/// Stops in the middle of a refill until it is let go.
struct Held<'a>(&'a AtomicU32);

impl RandomSource for Held<'_> {
    fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
        self.0.store(1, Ordering::SeqCst);
        while self.0.load(Ordering::SeqCst) != 2 {
            thread::yield_now();
        }
        OsRandom.fill(out)
    }
}

/// P3: a fork while another thread refills, and so holds the lock; a third thread waits for it.
fn lock_held_by_another_thread() {
    let stock = Stock::<Sntrup761>::new();
    let reports = Reports::new();
    let gate = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| stock.take(&mut Held(&gate)).unwrap());
        while gate.load(Ordering::SeqCst) != 1 {
            thread::yield_now();
        }
        scope.spawn(|| reports.take(&stock, KEYS));
        let children: Vec<_> = (0..8).map(|_| spawn(Fork::Library, || reports.take(&stock, KEYS))).collect();
        children.into_iter().for_each(wait);
        gate.store(2, Ordering::SeqCst);
    });
    reports.check(9 * KEYS);
}

/// Forks at arbitrary moments while two threads take and refill all the time.
fn at_any_moment() {
    let stock = Stock::<Sntrup653>::new();
    stock.set_batch_size(4).unwrap();
    let reports = Reports::new();
    let (stop, taken) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while stop.load(Ordering::SeqCst) == 0 && taken.fetch_add(1, Ordering::SeqCst) < 10_000 {
                    reports.take(&stock, 1);
                }
            });
        }
        for i in 0..40 {
            thread::sleep(std::time::Duration::from_micros(i * 97));
            wait(spawn(Fork::Library, || reports.take(&stock, 8)));
        }
        stop.store(1, Ordering::SeqCst);
    });
    // How many pairs the threads took, the pipe knows best.
    let Reports { mut reader, writer } = reports;
    drop(writer);
    let mut all = Vec::new();
    reader.read_to_end(&mut all).unwrap();
    assert!(all.len() > 64 * 8 * 40);
    assert_eq!(all.chunks(32).collect::<HashSet<_>>().len(), all.len() / 32, "a key or a secret was seen twice");
}

/// The random source itself forks in the middle of a refill; parent and child then see the same random bytes.
fn the_random_source_forks() {
    struct Forks(Cell<Option<libc::pid_t>>, bool);
    impl RandomSource for Forks {
        fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
            if self.1 {
                self.1 = false;
                OsRandom.fill(out)?;
                // SAFETY: the process has one thread; the child leaves by _exit below.
                let pid = unsafe { libc::fork() };
                assert!(pid >= 0);
                self.0.set(Some(pid));
                return Ok(());
            }
            OsRandom.fill(out)
        }
    }
    let stock = Stock::<Sntrup761>::new();
    let reports = Reports::new();
    let mut rng = Forks(Cell::new(None), true);
    let pair = stock.take(&mut rng).unwrap();
    let report = [Sha256::digest(pair.public().as_bytes()).to_vec(), pair.secret().as_bytes()[..32].to_vec()].concat();
    (&reports.writer).write_all(&report).unwrap();
    reports.take(&stock, 10);
    match rng.0.get().unwrap() {
        // SAFETY: as in `spawn`.
        0 => unsafe { libc::_exit(0) },
        child => wait(child),
    }
    reports.check(22);
}

/// A child that shares the memory shares the stock, and no pair is given twice.
fn shared_memory() {
    let stock = Stock::<Sntrup761>::new();
    let reports = Reports::new();
    reports.take(&stock, 1);
    let level = stock.level();
    let mut stack = vec![0u8; 1 << 20];
    extern "C" fn run(argument: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the parent passes a pointer to this pair and stays suspended while the child runs.
        let (stock, reports) = unsafe { &*argument.cast::<(&Stock<Sntrup761>, &Reports)>() };
        reports.take(stock, 3);
        0
    }
    let argument = (&stock, &reports);
    // SAFETY: the child has its own stack of 1 MiB; CLONE_VFORK suspends the parent until the child has ended.
    let pid = unsafe {
        libc::clone(
            run,
            stack.as_mut_ptr().add(stack.len() & !15).cast(),
            libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
            (&raw const argument).cast_mut().cast(),
        )
    };
    assert!(pid > 0);
    wait(pid);
    assert_eq!(stock.level(), level - 3, "the child took from the shared stock");
    reports.take(&stock, level);
    reports.check(1 + 3 + level);
}

fn main() {
    let scenarios: [(&str, &dyn Fn()); 10] = [
        ("eight children by fork", &|| eight_children(Fork::Library)),
        ("eight children by the system call clone", &|| eight_children(Fork::Clone)),
        ("eight children in new PID namespaces", &|| eight_children(Fork::CloneNewPids)),
        ("nested forks", &|| nested(Fork::Library)),
        ("nested clones", &|| nested(Fork::Clone)),
        ("the same process number in two namespaces", &the_same_process_number),
        ("the random source forks", &the_random_source_forks),
        ("a child that shares the memory", &shared_memory),
        ("the lock is held by another thread", &lock_held_by_another_thread),
        ("forks at any moment", &at_any_moment),
    ];
    for (name, scenario) in scenarios {
        print!("fork: {name} ... ");
        std::io::stdout().flush().unwrap();
        scenario();
        println!("ok");
    }
}
