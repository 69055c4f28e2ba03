//! Clocks of the benchmark: the time-stamp counter, its rate in real time, and core cycles estimated from it.

use std::arch::asm;
use std::arch::x86_64::{__cpuid, _mm_lfence, _rdtsc};
use std::time::{Duration, Instant};

/// Reads the time-stamp counter; work before the call is finished, work after it not begun.
#[inline(always)]
pub fn ticks() -> u64 {
    // SAFETY: both instructions belong to the x86-64 baseline and touch no memory.
    unsafe {
        _mm_lfence();
        let now = _rdtsc();
        _mm_lfence();
        now
    }
}

/// Additions in one run of [`dependent_adds`].
const ADDS: u64 = 64 * 256;

/// Runs a chain of [`ADDS`] dependent register additions, one core cycle each, and returns the ticks it took.
///
/// Registers on both sides: recent cores perform an addition of a small constant in no time at all.
fn dependent_adds() -> u64 {
    let start = ticks();
    // SAFETY: plain register arithmetic; the three registers are declared as clobbered by being outputs.
    unsafe {
        asm!(
            "2:",
            ".rept 64",
            "add {sum}, {step}",
            ".endr",
            "dec {turns}",
            "jnz 2b",
            sum = inout(reg) 0u64 => _,
            step = in(reg) 3u64,
            turns = inout(reg) ADDS / 64 => _,
            options(nomem, nostack),
        );
    }
    ticks() - start
}

/// Turns ticks into nanoseconds and into an estimate of core cycles.
pub struct Clock {
    started: Instant,
    started_ticks: u64,
    adds: Vec<u64>,
}

impl Clock {
    /// Starts the real-time side of the calibration.
    pub fn start() -> Self {
        Clock { started: Instant::now(), started_ticks: ticks(), adds: Vec::new() }
    }

    /// Takes one more sample of the core frequency; called once a round, so that the ratio covers the whole run.
    pub fn sample_core(&mut self) {
        dependent_adds();
        self.adds.push(dependent_adds());
    }

    /// Ends the calibration.
    pub fn finish(mut self) -> Rates {
        if self.started.elapsed() < Duration::from_millis(50) {
            std::thread::sleep(Duration::from_millis(50));
        }
        let ticks = ticks() - self.started_ticks;
        let ns_per_tick = self.started.elapsed().as_nanos() as f64 / ticks as f64;
        self.adds.sort_unstable();
        let cycles_per_tick = ADDS as f64 / self.adds[self.adds.len() / 2] as f64;
        Rates { ns_per_tick, cycles_per_tick }
    }
}

/// What one tick of the time-stamp counter is worth.
#[derive(Clone, Copy)]
pub struct Rates {
    /// Nanoseconds in a tick, by the system's clock over the whole run.
    pub ns_per_tick: f64,
    /// Core cycles in a tick, by the median dependent-add loop of the run.
    pub cycles_per_tick: f64,
}

/// The processor, its counter's rate and the system, in one line.
pub fn machine(rates: Rates) -> String {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        cpuinfo
            .lines()
            .find(|line| line.starts_with(name))
            .and_then(|line| line.split_once(':'))
            .map_or("?", |(_, value)| value.trim())
    };
    let cores = std::thread::available_parallelism().map_or(0, |n| n.get());
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "{} (family {}, model {}, stepping {}), {cores} cores{}, Linux {}, TSC {:.2} GHz, core about {:.2} GHz",
        field("model name"),
        field("cpu family"),
        field("model\t"),
        field("stepping"),
        if virtual_machine() { " of a virtual machine" } else { "" },
        kernel.trim(),
        1.0 / rates.ns_per_tick,
        rates.cycles_per_tick / rates.ns_per_tick,
    )
}

/// True when the processor says that a hypervisor runs below (CPUID leaf 1, ECX bit 31).
fn virtual_machine() -> bool {
    __cpuid(1).ecx >> 31 == 1
}
