//! Secrets are gone from the heap when an operation ends or a value is dropped: an allocator looks through all memory
//! that is given back, for pieces of the secrets. A canary that is not wiped must be found.
//!
//! This binary has one test, so that no other thread's memory is looked through.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use common::{NistDrbg, hash, seeded, small};
use sntrup_core::{
    Ciphertext, Params, RandomError, RandomSource, SecretKey, Sntrup653, Sntrup761, Sntrup857, Stock, decapsulate,
    encapsulate, generate_batch, generate_key,
};

const NEEDLE: usize = 12;
const MOST_NEEDLES: usize = 64;

static ARMED: AtomicBool = AtomicBool::new(false);
/// One more than the number of the needle found last; 0 for none.
static FOUND: AtomicUsize = AtomicUsize::new(0);
static FREED: AtomicUsize = AtomicUsize::new(0);
static NEEDLES: Mutex<([[u8; NEEDLE]; MOST_NEEDLES], usize)> = Mutex::new(([[0; NEEDLE]; MOST_NEEDLES], 0));

struct Inspector;

/// Looks for the needles in a block that is about to be freed.
fn inspect(block: *const u8, len: usize) {
    if !ARMED.load(Ordering::SeqCst) {
        return;
    }
    FREED.fetch_add(1, Ordering::SeqCst);
    let needles = NEEDLES.lock().unwrap();
    // SAFETY: the block is `len` bytes long and still allocated. Bytes that were never written hold whatever the
    // allocator left there, which is what this test wants to see.
    let bytes = unsafe { std::slice::from_raw_parts(block, len) };
    for (i, needle) in needles.0[..needles.1].iter().enumerate() {
        let hit = bytes.windows(NEEDLE).any(|window| window[0] == needle[0] && window == needle);
        if hit {
            FOUND.store(i + 1, Ordering::SeqCst);
        }
    }
}

// SAFETY: everything is left to the system's allocator; blocks are only read before they are freed.
unsafe impl GlobalAlloc for Inspector {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises. Zeroed, so that a needle in old memory is not found again.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        inspect(block, layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Inspector = Inspector;

/// Records what the random source gave, out of reach of the inspection.
struct Recorder(NistDrbg, Vec<Vec<u8>>);

impl RandomSource for Recorder {
    fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
        let armed = ARMED.swap(false, Ordering::SeqCst);
        self.0.bytes(out);
        self.1.push(out.to_vec());
        ARMED.store(armed, Ordering::SeqCst);
        Ok(())
    }
}

/// Sets what to look for.
fn seek(needles: &[Vec<u8>]) {
    let mut list = NEEDLES.lock().unwrap();
    for needle in needles {
        // A needle must be telling: not a run of few values, as in sparse coefficients.
        assert_eq!(needle.len(), NEEDLE);
        assert!(needle.iter().any(|byte| byte != &needle[0]));
        let count = list.1;
        list.0[count].copy_from_slice(needle);
        list.1 += 1;
    }
}

/// Runs the body under inspection, in a thread of its own: what a thread keeps for its next operation is freed when it ends.
fn watch<T: Send>(body: impl FnOnce() -> T + Send) -> T {
    ARMED.store(true, Ordering::SeqCst);
    let result = thread::scope(|scope| scope.spawn(body).join());
    ARMED.store(false, Ordering::SeqCst);
    result.expect("an operation panicked under inspection")
}

fn assert_clean(what: &str) {
    assert!(FREED.swap(0, Ordering::SeqCst) > 0, "{what}: nothing was freed under inspection");
    assert_eq!(FOUND.swap(0, Ordering::SeqCst), 0, "{what}: a secret was freed without being wiped (needle's number)");
}

fn piece(bytes: &[u8]) -> Vec<u8> {
    bytes[..NEEDLE].to_vec()
}

/// Six coefficients from a place where not all are equal, as they lie in memory.
fn coefficients(a: &[i64]) -> Vec<u8> {
    let at = (0..).find(|&i| a[i..i + 6].windows(2).filter(|two| two[0] != two[1]).count() >= 4).unwrap();
    a[at..at + 6].iter().flat_map(|&x| (x as i16).to_ne_bytes()).collect()
}

/// What is secret in a key pair, as bytes and as coefficients. Random bytes of g are secret too.
fn key_needles<P: Params>(secret_key: &[u8]) -> Vec<Vec<u8>> {
    let n = P::P.div_ceil(4);
    let rho = &secret_key[2 * n + P::PUBLIC_KEY_BYTES..][..n];
    vec![piece(secret_key), piece(&secret_key[n..]), piece(rho), piece(&hash(3, &[rho]))]
}

fn operations<P: Params>() {
    NEEDLES.lock().unwrap().1 = 0;
    // Run everything once to learn the secrets, then again under inspection with the same randomness.
    let five = NonZeroUsize::new(5).unwrap();
    let mut rng = Recorder(seeded(40), Vec::new());
    let pair = generate_key::<P>(&mut rng).unwrap();
    let (ciphertext, session) = encapsulate(pair.public(), &mut rng).unwrap();
    let pairs = generate_batch::<P>(five, &mut rng).unwrap();
    let mut needles: Vec<_> = rng.1.iter().map(|bytes| piece(bytes)).collect();
    for secret in pairs.iter().chain([&pair]).map(|pair| pair.secret().as_bytes()) {
        needles.extend(key_needles::<P>(secret));
    }
    needles.push(piece(session.as_bytes()));
    let mut forged = ciphertext.as_bytes().to_vec();
    forged[0] ^= 1;
    let forged = Ciphertext::<P>::from_bytes(&forged).unwrap();
    needles.push(piece(decapsulate(&forged, pair.secret()).as_bytes()));
    seek(&needles);

    let mut rng = Recorder(seeded(40), Vec::new());
    let again = watch(|| generate_key::<P>(&mut rng)).unwrap();
    assert_clean("key generation");
    assert_eq!(again.secret().as_bytes(), pair.secret().as_bytes());
    let result = watch(|| encapsulate(again.public(), &mut rng)).unwrap();
    assert_clean("encapsulation");
    watch(|| drop(result));
    assert_clean("drop of a session key");
    watch(|| drop(decapsulate(&ciphertext, again.secret())));
    assert_clean("decapsulation");
    watch(|| drop(decapsulate(&forged, again.secret())));
    assert_clean("decapsulation of a forged ciphertext");
    let batch = watch(|| generate_batch::<P>(five, &mut rng)).unwrap();
    assert_clean("batch key generation");
    assert_eq!(batch[4].secret().as_bytes(), pairs[4].secret().as_bytes());
    watch(|| drop(batch));
    assert_clean("drop of a batch");
    watch(|| drop(SecretKey::<P>::from_bytes(again.secret().as_bytes())));
    assert_clean("drop of a secret key from bytes");
    watch(|| drop(again.into_parts()));
    assert_clean("drop of a key pair in parts");

    // The coefficients of f and 1/g of the single key, as they lie in the working arrays; few other arrays look alike.
    NEEDLES.lock().unwrap().1 = 0;
    let sk = pair.secret().as_bytes();
    let long = |part| {
        let all = small::<P>(sk, part);
        coefficients(&all)
    };
    seek(&[long(0), long(1)]);
    let mut rng = Recorder(seeded(40), Vec::new());
    drop(watch(|| generate_key::<P>(&mut rng)).unwrap());
    assert_clean("key generation, coefficients");
    drop(watch(|| decapsulate(&ciphertext, pair.secret())));
    assert_clean("decapsulation, coefficients");

    // A stock: the batch that fills it, the pair that leaves it.
    NEEDLES.lock().unwrap().1 = 0;
    let mut rng = Recorder(seeded(41), Vec::new());
    let pairs = generate_batch::<P>(five, &mut rng).unwrap();
    seek(&pairs.iter().flat_map(|pair| key_needles::<P>(pair.secret().as_bytes())).collect::<Vec<_>>());
    let stock = Stock::<P>::new();
    stock.set_batch_size(5).unwrap();
    let mut rng = Recorder(seeded(41), Vec::new());
    for _ in 0..2 {
        drop(watch(|| stock.take(&mut rng)).unwrap());
    }
    assert_clean("taking from a stock");
}

#[test]
fn secrets_are_wiped_before_their_memory_is_freed() {
    // The canary: the inspection finds what was not wiped.
    seek(&[b"canary needs".to_vec()]);
    watch(|| drop(b"not wiped: canary needs it".to_vec()));
    assert_eq!(FOUND.swap(0, Ordering::SeqCst), 1, "the inspection finds nothing");
    FREED.store(0, Ordering::SeqCst);

    operations::<Sntrup653>();
    operations::<Sntrup761>();
    operations::<Sntrup857>();
}
