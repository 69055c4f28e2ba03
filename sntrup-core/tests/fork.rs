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
use std::time::Duration;

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
        assert_eq!(self.check_at_least(expected), expected, "reports");
    }

    /// The same for at least `expected` pairs; their number.
    fn check_at_least(self, expected: usize) -> usize {
        let Self { mut reader, writer } = self;
        drop(writer);
        let mut all = Vec::new();
        reader.read_to_end(&mut all).unwrap();
        assert!(all.len() % 64 == 0 && all.len() >= 64 * expected, "reports: {} bytes", all.len());
        let halves: HashSet<&[u8]> = all.chunks(32).collect();
        assert_eq!(halves.len(), all.len() / 32, "a key or a secret was seen twice");
        all.len() / 64
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
            thread::sleep(Duration::from_micros(i * 97));
            wait(spawn(Fork::Library, || reports.take(&stock, 8)));
        }
        stop.store(1, Ordering::SeqCst);
    });
    // How many pairs the threads took, the pipe knows best.
    reports.check_at_least(8 * 40 + 1);
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

/// Waits until the thread has refilled a stock of batches of four.
fn wait_for_refill<P: Params>(stock: &Stock<P>) {
    while stock.level() < 4 {
        thread::yield_now();
    }
}

/// A stock that a thread refills in batches of four.
fn refilled<P: Params>() -> Stock<P> {
    let stock = Stock::new();
    stock.set_batch_size(4).unwrap();
    stock.set_background_refill(true);
    stock
}

/// A child has no thread that refills: it starts its own, and waits for none when it switches it off.
fn the_refilling_thread_stays_behind(fork: Fork) {
    let stock = refilled::<Sntrup761>();
    let reports = Reports::new();
    reports.take(&stock, 3);
    wait_for_refill(&stock);
    let tasks = || std::fs::read_dir("/proc/self/task").unwrap().count();
    // An ended thread was joined, but /proc may show it for a moment more.
    let only_one_is_left = || (0..5000).any(|_| tasks() == 1 || (thread::sleep(Duration::from_millis(1)), false).1);
    assert_eq!(tasks(), 2);
    let children: Vec<_> = (0..8)
        .map(|i| {
            spawn(fork, || {
                assert_eq!((stock.level(), tasks()), (0, 1));
                if i % 2 == 0 {
                    reports.take(&stock, KEYS - 1);
                    reports.take(&stock, 1 + stock.level().saturating_sub(1)); // leaves at most one
                    wait_for_refill(&stock);
                    assert_eq!(tasks(), 2);
                    wait(spawn(fork, || reports.take(&stock, 1)));
                }
                stock.set_background_refill(false);
                assert!(only_one_is_left());
            })
        })
        .collect();
    children.into_iter().for_each(wait);
    let left = stock.level();
    reports.take(&stock, left);
    drop(stock);
    assert!(only_one_is_left());
    // How many pairs each child took, the pipe knows best.
    reports.check_at_least(3 + left + 4 * KEYS);
}

/// Forks at arbitrary moments while the thread refills, starts and ends; the child takes, and ends its own thread.
fn at_any_moment_of_a_refill() {
    let stock = refilled::<Sntrup653>();
    let reports = Reports::new();
    let (stop, taken) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            while stop.load(Ordering::SeqCst) == 0 && taken.fetch_add(1, Ordering::SeqCst) < 10_000 {
                reports.take(&stock, 1);
            }
        });
        scope.spawn(|| {
            while stop.load(Ordering::SeqCst) == 0 {
                stock.set_background_refill(false);
                stock.set_background_refill(true);
                thread::sleep(Duration::from_millis(3));
            }
        });
        for i in 0..100 {
            thread::sleep(Duration::from_micros(i * 97));
            wait(spawn(Fork::Library, || {
                reports.take(&stock, 8);
                stock.set_background_refill(false);
            }));
        }
        stop.store(1, Ordering::SeqCst);
    });
    drop(stock);
    reports.check_at_least(8 * 100);
}

/// The random source forks where it is asked for the seed of a refill: parent and child then have the same seed, and only
/// the parent may use it.
fn the_random_source_forks_for_a_refill() {
    struct Forks(Cell<Option<libc::pid_t>>, bool);
    impl RandomSource for Forks {
        fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
            OsRandom.fill(out)?;
            if self.1 {
                self.1 = false;
                // SAFETY: no thread holds a lock of the C library; the child leaves by _exit below.
                let pid = unsafe { libc::fork() };
                assert!(pid >= 0);
                self.0.set(Some(pid));
            }
            Ok(())
        }
    }
    let stock = refilled::<Sntrup761>();
    let reports = Reports::new();
    reports.take(&stock, 2);
    let mut rng = Forks(Cell::new(None), true);
    let pair = stock.take(&mut rng).unwrap();
    let report = [Sha256::digest(pair.public().as_bytes()).to_vec(), pair.secret().as_bytes()[..32].to_vec()].concat();
    (&reports.writer).write_all(&report).unwrap();
    reports.take(&stock, 20);
    match rng.0.get().unwrap() {
        // SAFETY: as in `spawn`.
        0 => unsafe { libc::_exit(0) },
        child => wait(child),
    }
    drop(stock);
    reports.check(2 + 2 * 21);
}

/// Where no thread can be started, takes work without it.
fn no_thread_to_be_had() {
    let reports = Reports::new();
    wait(spawn(Fork::Library, || {
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: `none` is a limit; the user that a root becomes is nobody, for whom the limit holds.
        unsafe {
            assert_eq!(libc::setrlimit(libc::RLIMIT_NPROC, &none), 0);
            assert!(libc::geteuid() != 0 || libc::setuid(65534) == 0);
        }
        assert!(thread::Builder::new().spawn(|| ()).is_err());
        let stock = refilled::<Sntrup761>();
        for i in 0..KEYS {
            assert_eq!(stock.level(), (4 - i % 4) % 4);
            reports.take(&stock, 1);
        }
        stock.set_background_refill(false);
    }));
    reports.check(KEYS);
}

fn main() {
    let scenarios: [(&str, &dyn Fn()); 15] = [
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
        ("the thread that refills stays behind", &|| the_refilling_thread_stays_behind(Fork::Library)),
        ("the same with the system call clone", &|| the_refilling_thread_stays_behind(Fork::Clone)),
        ("forks at any moment of a refill", &at_any_moment_of_a_refill),
        ("the random source forks for a refill", &the_random_source_forks_for_a_refill),
        ("no thread to be had", &no_thread_to_be_had),
    ];
    for (name, scenario) in scenarios {
        print!("fork: {name} ... ");
        std::io::stdout().flush().unwrap();
        scenario();
        println!("ok");
    }
}
