//! engNTRU beside its peers, in one process and alternately. Run it by `scripts/bench kem`.

#[cfg(not(target_arch = "x86_64"))]
compile_error!("the benchmark reads the time-stamp counter of x86-64; there is no clock for other processors yet");

mod chart;
mod clock;
mod contest;
mod ours;
mod peers;
mod random;
mod report;

use sntrup_core::{Backend, Sntrup653, Sntrup761, Sntrup857};
use std::path::PathBuf;
use std::process::ExitCode;

/// What the command line asks for.
struct Options {
    json: Option<PathBuf>,
    svg: Option<PathBuf>,
    rounds: usize,
}

const USAGE: &str = "usage: engntru-bench [--json FILE] [--svg FILE] [--quick]";

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Options { json: None, svg: None, rounds: 400 };
        while let Some(argument) = arguments.next() {
            let mut file = || arguments.next().map(PathBuf::from).ok_or(format!("{argument} needs a file\n{USAGE}"));
            match argument.as_str() {
                "--json" => options.json = Some(file()?),
                "--svg" => options.svg = Some(file()?),
                "--quick" => options.rounds = 40,
                _ => return Err(format!("unknown argument {argument}\n{USAGE}")),
            }
        }
        Ok(options)
    }
}

fn main() -> ExitCode {
    match Options::parse(std::env::args().skip(1)).and_then(bench) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn bench(options: Options) -> Result<(), String> {
    let mut entries = Vec::new();
    for &backend in Backend::available() {
        ours::entries::<Sntrup653>(backend, &mut entries);
        ours::entries::<Sntrup761>(backend, &mut entries);
        ours::entries::<Sntrup857>(backend, &mut entries);
    }
    peers::entries(&mut entries);
    eprintln!("bench: {} entries, {} alternating rounds", entries.len(), options.rounds);
    let (figures, rates) = contest::run(entries, options.rounds);
    let machine = clock::machine(rates);
    let report = report::Report { figures: &figures, rates };
    let calls = figures.iter().map(|figure| figure.calls).min().unwrap_or(0);

    println!("Machine: {machine}.");
    println!(
        "Every entry ran alternately in {} rounds of one process, at least {calls} timed calls each. A tick is one of the \
         time-stamp counter;\ncycles are ticks times {:.3}, the ratio of a chain of dependent additions in the same run. \
         Per key for batches. Ratios: this row's median over\nthe peer's (below 1: faster than the peer). The backend is \
         chosen per row, keys and ciphertexts start as bytes unless the row says prepared.\n",
        options.rounds, rates.cycles_per_tick
    );
    println!("{}", report.table());
    println!("The random sources by themselves (every random request above includes them):\n");
    println!("{}", report.random_sources(&random::costs()));
    println!("Targets, as ratios (met when minima and medians both are at most the figure):\n");
    println!("{}", report.targets());
    if let Some(path) = options.json {
        write(&path, &report.json())?;
    }
    if let Some(path) = options.svg {
        write(&path, &chart::svg(&report, &machine))?;
    }
    Ok(())
}

fn write(path: &std::path::Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}
