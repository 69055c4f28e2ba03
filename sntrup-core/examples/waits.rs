//! How long threads wait for a key pair of the stock, and how many they get in a second: with 1, 2, 4 and 16 threads, with the
//! background refill off and on, alternately. `scripts/bench stock` runs it.
//!
//! A thread takes a pair, and computes for as long as the rest of a handshake takes, or not at all, before it takes the next.

use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::thread;
use std::time::{Duration, Instant};

use sntrup_core::{Params, RandomError, RandomSource, Sntrup761, Sntrup857, Stock};

/// Rounds of each case.
const ROUNDS: usize = 5;
/// Length of one round of one case.
const ROUND: Duration = Duration::from_millis(400);
/// What a thread does between two takes, in microseconds: nothing, or most of a handshake.
const BETWEEN: [u64; 2] = [0, 500];

/// The kernel's generator.
struct Urandom(File);

impl RandomSource for Urandom {
    fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
        self.0.read_exact(out).map_err(|_| RandomError)
    }
}

fn source() -> Urandom {
    Urandom(File::open("/dev/urandom").expect("the system has /dev/urandom"))
}

/// The waits of one thread.
fn takes<P: Params>(stock: &Stock<P>, between: Duration) -> Vec<Duration> {
    let (mut rng, mut waits, start) = (source(), Vec::new(), Instant::now());
    while start.elapsed() < ROUND {
        let asked = Instant::now();
        black_box(stock.take(&mut rng).expect("a key pair"));
        waits.push(asked.elapsed());
        let work = Instant::now();
        while work.elapsed() < between {
            std::hint::spin_loop();
        }
    }
    waits
}

fn round<P: Params>(threads: usize, between: Duration, background: bool) -> Vec<Duration> {
    let stock = Stock::<P>::new();
    stock.set_background_refill(background);
    // The first batch is waited for in any case.
    stock.take(&mut source()).expect("a key pair");
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(|| takes(&stock, between))).collect();
        running.into_iter().flat_map(|thread| thread.join().expect("a thread that ends")).collect()
    })
}

fn measure<P: Params>() {
    for between in BETWEEN.map(Duration::from_micros) {
        for threads in [1, 2, 4, 16] {
            let mut waits = [Vec::new(), Vec::new()];
            for _ in 0..ROUNDS {
                for background in [false, true] {
                    waits[usize::from(background)].extend(round::<P>(threads, between, background));
                }
            }
            for (mut waits, refill) in waits.into_iter().zip(["off", "on"]) {
                waits.sort_unstable();
                let at = |share: f64| waits[((waits.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e6;
                let rate = waits.len() as f64 / (ROUND * ROUNDS as u32).as_secs_f64();
                println!(
                    "{:<9} {:>5} {:>7} {:>6} {:>9.0} {:>8.1} {:>8.1} {:>8.1} {:>8.1}",
                    P::NAME,
                    between.as_micros(),
                    threads,
                    refill,
                    rate,
                    at(0.5),
                    at(0.95),
                    at(0.99),
                    at(1.0)
                );
            }
        }
    }
}

fn main() {
    println!("set       work  threads refill   takes/s   median      95%      99%  longest    (waits and work in µs)");
    measure::<Sntrup761>();
    measure::<Sntrup857>();
}
