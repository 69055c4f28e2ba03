//! The table, the targets and the JSON.

use crate::{Contestant, HANDSHAKES, Kind, Library};
use std::fmt::Write;

/// The lower quartile, the median and the upper quartile of something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    pub(crate) low: f64,
    pub(crate) median: f64,
    pub(crate) high: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.collect();
        sorted.sort_by(f64::total_cmp);
        let at = |part: f64| sorted[((sorted.len() - 1) as f64 * part).round() as usize];
        Spread { low: at(0.25), median: at(0.5), high: at(0.75) }
    }
}

/// One group with one server and one certificate.
pub(crate) struct Row {
    pub(crate) kind: Kind,
    pub(crate) certificate: &'static str,
    pub(crate) library: Library,
    pub(crate) group: &'static str,
    /// Handshakes a second, by round.
    pub(crate) rates: Vec<f64>,
    rate: Spread,
    /// Handshakes a second over those of X25519 of 1.1.1w in the same pass.
    ratio: Spread,
    /// Processor time in microseconds for a handshake: client and server.
    client: Spread,
    server: Spread,
    /// Processor time of both sides for X25519 of 1.1.1w over this one's, in the same pass.
    saved: Spread,
    /// The same two figures against X25519MLKEM768 of the same library, where there is one.
    against_mlkem: Option<(Spread, Spread)>,
}

impl Row {
    pub(crate) fn name(&self) -> String {
        format!("{} ({})", self.group, self.library.name())
    }
}

/// All figures of a run.
pub(crate) struct Report {
    pub(crate) rows: Vec<Row>,
    passes: usize,
}

impl Report {
    pub(crate) fn new(contestants: &[Contestant], passes: usize) -> Self {
        let rows = contestants.iter().map(|one| {
            let base = contestants.iter().find(|other| {
                (other.kind, other.certificate, other.library, other.group)
                    == (one.kind, one.certificate, Library::Patched, "X25519")
            });
            let base = &base.expect("X25519 is measured with each server and certificate").rounds;
            let mlkem = contestants.iter().find(|other| {
                (other.kind, other.certificate, other.library, other.group)
                    == (one.kind, one.certificate, one.library, "X25519MLKEM768")
            });
            let each = HANDSHAKES as f64;
            let rates: Vec<f64> = one.rounds.iter().map(|round| each * 1e9 / round.wall).collect();
            let pairs = || one.rounds.iter().zip(base);
            Row {
                kind: one.kind,
                certificate: one.certificate,
                library: one.library,
                group: one.group,
                rate: Spread::of(rates.iter().copied()),
                rates,
                ratio: Spread::of(pairs().map(|(round, base)| base.wall / round.wall)),
                client: Spread::of(one.rounds.iter().map(|round| round.client / each / 1e3)),
                server: Spread::of(one.rounds.iter().map(|round| round.server / each / 1e3)),
                saved: Spread::of(
                    pairs().map(|(round, base)| (base.client + base.server) / (round.client + round.server)),
                ),
                against_mlkem: mlkem.map(|mlkem| {
                    let pairs = || one.rounds.iter().zip(&mlkem.rounds);
                    (
                        Spread::of(pairs().map(|(round, base)| base.wall / round.wall)),
                        Spread::of(
                            pairs().map(|(round, base)| (base.client + base.server) / (round.client + round.server)),
                        ),
                    )
                }),
            }
        });
        Report { rows: rows.collect(), passes }
    }

    /// The tables in Markdown, one for each server and certificate, and how the targets were met.
    pub(crate) fn table(&self) -> String {
        let mut out = format!(
            "Full TLS 1.3 handshakes on the loopback, {} rounds of {HANDSHAKES} each; {}.\n\
             In brackets: the quartiles. Ratios are to X25519 of 1.1.1w in the same pass; above 1 is better.\n",
            self.passes,
            machine()
        );
        let mut last = None;
        for row in &self.rows {
            let place = (row.kind, row.certificate);
            if last != Some(place) {
                let _ = write!(
                    out,
                    "\n{}, certificate {}\n\n\
                     | group (OpenSSL) | handshakes/s | ratio | client CPU, µs | server CPU, µs | per CPU-second, client | server \
                     | ratio of CPU time |\n|---|---|---|---|---|---|---|---|\n",
                    row.kind.name(),
                    row.certificate
                );
                last = Some(place);
            }
            let _ = writeln!(
                out,
                "| {} | {:.0} [{:.0}, {:.0}] | {:.3} [{:.3}, {:.3}] | {:.0} [{:.0}, {:.0}] | {:.0} [{:.0}, {:.0}] | {:.0} | {:.0} \
                 | {:.3} [{:.3}, {:.3}] |",
                row.name(),
                row.rate.median,
                row.rate.low,
                row.rate.high,
                row.ratio.median,
                row.ratio.low,
                row.ratio.high,
                row.client.median,
                row.client.low,
                row.client.high,
                row.server.median,
                row.server.low,
                row.server.high,
                1e6 / row.client.median,
                1e6 / row.server.median,
                row.saved.median,
                row.saved.low,
                row.saved.high
            );
        }
        let _ = writeln!(out, "\nTargets, with the ECDSA P-256 certificate:");
        let rows = || self.rows.iter().filter(|row| row.certificate == "ECDSA P-256");
        let mut judge = |row: &Row, against: &str, (rate, cpu): (f64, f64), (wanted_rate, wanted_cpu): (f64, f64)| {
            for (what, value, wanted) in [("handshakes/s", rate, wanted_rate), ("CPU time", cpu, wanted_cpu)] {
                let verdict = if value >= wanted { "met" } else { "MISSED" };
                let (name, server) = (row.name(), row.kind.name());
                let _ = writeln!(
                    out,
                    "- {name} against {against}, {server}, {what}: {value:.3}, wanted {wanted}: {verdict}"
                );
            }
        };
        for (group, wanted) in [("sntrup761", (1.05, 1.08)), ("sntrup857", (1.03, 1.08))] {
            for row in rows().filter(|row| row.group == group && row.library == Library::Patched) {
                judge(row, "X25519 of 1.1.1w", (row.ratio.median, row.saved.median), wanted);
            }
        }
        for (group, wanted) in [("X25519sntrup761", (1.05, 1.05)), ("sntrup761", (1.12, 1.12))] {
            for row in rows().filter(|row| row.group == group) {
                if let Some((rate, cpu)) = &row.against_mlkem {
                    judge(row, "X25519MLKEM768 of the same OpenSSL", (rate.median, cpu.median), wanted);
                }
            }
        }
        out
    }

    /// All figures.
    pub(crate) fn json(&self) -> String {
        let spread = |name: &str, value: Spread| {
            format!(
                "\"{name}\": {{\"low\": {:.4}, \"median\": {:.4}, \"high\": {:.4}}}",
                value.low, value.median, value.high
            )
        };
        let rows: Vec<String> = self
            .rows
            .iter()
            .map(|row| {
                let rates: Vec<String> = row.rates.iter().map(|rate| format!("{rate:.1}")).collect();
                format!(
                    "    {{\"server\": \"{}\", \"certificate\": \"{}\", \"openssl\": \"{}\", \"group\": \"{}\",\n     {},\n     {},\n     \
                     {},\n     {},\n     {},\n     \"rates\": [{}]}}",
                    row.kind.name(),
                    row.certificate,
                    row.library.name(),
                    row.group,
                    spread("handshakes_per_second", row.rate),
                    spread("ratio_to_x25519", row.ratio),
                    spread("client_cpu_us", row.client),
                    spread("server_cpu_us", row.server),
                    [
                        Some(spread("cpu_ratio_to_x25519", row.saved)),
                        row.against_mlkem.map(|(rate, _)| spread("ratio_to_x25519mlkem768", rate)),
                        row.against_mlkem.map(|(_, cpu)| spread("cpu_ratio_to_x25519mlkem768", cpu)),
                    ]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join(",\n     "),
                    rates.join(", ")
                )
            })
            .collect();
        format!(
            "{{\n  \"machine\": \"{}\",\n  \"rounds\": {},\n  \"handshakes_per_round\": {HANDSHAKES},\n  \"rows\": [\n{}\n  ]\n}}\n",
            machine().replace(['"', '\\'], " "),
            self.passes,
            rows.join(",\n")
        )
    }
}

/// The processor, and how busy it was with other things.
pub(crate) fn machine() -> String {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let model = read("/proc/cpuinfo")
        .lines()
        .find_map(|line| Some(line.strip_prefix("model name")?.split_once(": ")?.1.to_owned()));
    let processors = std::thread::available_parallelism().map_or(0, usize::from);
    let load = read("/proc/loadavg").split(' ').next().unwrap_or_default().to_owned();
    format!("{}, {processors} processors, load {load}", model.unwrap_or_else(|| "unknown processor".to_owned()))
}
