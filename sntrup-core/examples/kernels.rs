//! Times every kernel: `kernels [FILTER]` prints minima in core cycles (TSC ticks scaled by a chain of dependent
//! multiplications), `kernels --repeat N KERNEL` only runs one of them, for an instruction counter.

#[cfg(target_arch = "x86_64")]
fn ticks() -> u64 {
    // SAFETY: both instructions are part of every x86-64 processor.
    unsafe {
        core::arch::x86_64::_mm_lfence();
        let t = core::arch::x86_64::_rdtsc();
        core::arch::x86_64::_mm_lfence();
        t
    }
}

/// Ticks that 3330 dependent multiplications of three cycles each take.
fn ten_thousand_cycles() -> u64 {
    let mut x = std::hint::black_box(1u64);
    let start = ticks();
    // SAFETY: the loop touches only the two registers that it is given.
    unsafe {
        core::arch::asm!("mov {c:e}, 333", "2:", "imul {x}, {x}", "imul {x}, {x}", "imul {x}, {x}", "imul {x}, {x}", "imul {x}, {x}",
            "imul {x}, {x}", "imul {x}, {x}", "imul {x}, {x}", "imul {x}, {x}", "imul {x}, {x}", "dec {c:e}", "jnz 2b",
            x = inout(reg) x, c = out(reg) _);
    }
    std::hint::black_box(x);
    ticks() - start
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut probes = sntrup_core::probe::probes();
    if let [flag, count, name] = &arguments[..]
        && flag == "--repeat"
    {
        let count: u32 = count.parse().expect("a number of repetitions");
        let (_, run) = probes.iter_mut().find(|(n, _)| n == name).expect("the name of a kernel");
        (0..count).for_each(|_| run());
        return;
    }
    probes.retain(|(name, _)| arguments.iter().all(|filter| name.contains(filter.as_str())));
    let mut best = vec![u64::MAX; probes.len()];
    let mut unit = u64::MAX;
    for _ in 0..3000 {
        unit = unit.min(ten_thousand_cycles());
        for (best, (_, run)) in best.iter_mut().zip(&mut probes) {
            let start = ticks();
            (0..4).for_each(|_| run());
            *best = (*best).min(ticks() - start);
        }
    }
    for (best, (name, _)) in best.iter().zip(&probes) {
        println!("{name:32} {:8.0} cycles {:8.0} ticks", *best as f64 * 2497.5 / unit as f64, *best as f64 / 4.0);
    }
}
