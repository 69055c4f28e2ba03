//! The chart: cumulative distributions of the handshakes a second, as in the paper's last figure.

use crate::Kind;
use crate::report::{Report, Row, machine};
use std::fmt::Write;

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 470.0;
const TOP: f64 = 96.0;
const BOTTOM: f64 = 390.0;
const PANEL: f64 = 420.0;

/// Groups with their colours (told apart by lightness too); what has none is not drawn.
const COLOURS: [(&str, &str); 5] = [
    ("P-256 (1.1.1w)", "#9aa5b1"),
    ("X25519 (1.1.1w)", "#d1495b"),
    ("sntrup761 (1.1.1w)", "#1b4965"),
    ("sntrup857 (1.1.1w)", "#3a9188"),
    ("X25519MLKEM768 (3.5)", "#f2b134"),
];

/// Draws the run with the ECDSA P-256 certificate as an SVG image: one panel for each server.
pub(crate) fn svg(report: &Report) -> String {
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         font-family=\"DejaVu Sans, Verdana, sans-serif\" font-size=\"13\" fill=\"#1a1a1a\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n\
         <text x=\"20\" y=\"30\" font-size=\"18\" font-weight=\"bold\">Full TLS 1.3 handshakes a second, by key exchange \
         (further right is better)</text>\n"
    );
    for (index, (name, colour)) in COLOURS.iter().enumerate() {
        let x = 20.0 + 190.0 * index as f64;
        let _ = writeln!(
            out,
            "<line x1=\"{x}\" y1=\"54\" x2=\"{}\" y2=\"54\" stroke=\"{colour}\" stroke-width=\"4\"/><text x=\"{}\" y=\"59\">{name}</text>",
            x + 22.0,
            x + 28.0
        );
    }
    for (index, kind) in Kind::ALL.into_iter().enumerate() {
        let rows: Vec<&Row> =
            report.rows.iter().filter(|row| row.kind == kind && row.certificate == "ECDSA P-256").collect();
        panel(&mut out, 60.0 + index as f64 * (PANEL + 60.0), kind.name(), &rows);
    }
    let _ = writeln!(
        out,
        "<text x=\"20\" y=\"{}\" font-size=\"12\" fill=\"#555555\">One client on the loopback, ECDSA P-256 certificate; share of the \
         rounds with at most that rate. {}.</text>\n</svg>",
        HEIGHT - 16.0,
        escape(&machine())
    );
    out
}

fn panel(out: &mut String, left: f64, title: &str, rows: &[&Row]) {
    let drawn = || {
        rows.iter()
            .filter_map(|row| COLOURS.iter().find(|(name, _)| *name == row.name()).map(|(_, colour)| (row, colour)))
    };
    let mut all: Vec<f64> = drawn().flat_map(|(row, _)| row.rates.iter().copied()).collect();
    all.sort_by(f64::total_cmp);
    // A few rounds are disturbed by whatever else runs: they would squeeze the picture.
    let (low, high) = (all[all.len() / 100] * 0.97, all[all.len() - 1 - all.len() / 100] * 1.03);
    let x = |rate: f64| left + PANEL * ((rate - low) / (high - low)).clamp(0.0, 1.0);
    let y = |share: f64| BOTTOM - (BOTTOM - TOP) * share;
    let _ =
        writeln!(out, "<text x=\"{left}\" y=\"{}\" font-size=\"14\" font-weight=\"bold\">{title}</text>", TOP - 10.0);
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let _ = writeln!(
            out,
            "<line x1=\"{left}\" y1=\"{0:.1}\" x2=\"{1}\" y2=\"{0:.1}\" stroke=\"#dddddd\"/><text x=\"{2}\" y=\"{3:.1}\" \
             text-anchor=\"end\" fill=\"#555555\">{share}</text>",
            y(share),
            left + PANEL,
            left - 6.0,
            y(share) + 4.0
        );
    }
    let step = step((high - low) / 6.0);
    let mut mark = (low / step).ceil() * step;
    while mark <= high {
        let _ = writeln!(
            out,
            "<line x1=\"{0:.1}\" y1=\"{TOP}\" x2=\"{0:.1}\" y2=\"{BOTTOM}\" stroke=\"#eeeeee\"/><text x=\"{0:.1}\" y=\"{1}\" \
             text-anchor=\"middle\" fill=\"#555555\">{mark:.0}</text>",
            x(mark),
            BOTTOM + 18.0
        );
        mark += step;
    }
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#555555\">handshakes a second</text>",
        left + PANEL / 2.0,
        BOTTOM + 38.0
    );
    for (row, colour) in drawn() {
        let mut rates = row.rates.clone();
        rates.sort_by(f64::total_cmp);
        let mut points = format!("{:.1},{:.1}", x(rates[0]), y(0.0));
        for (index, rate) in rates.iter().enumerate() {
            let (before, after) = (index as f64 / rates.len() as f64, (index + 1) as f64 / rates.len() as f64);
            let _ = write!(points, " {0:.1},{1:.1} {0:.1},{2:.1}", x(*rate), y(before), y(after));
        }
        let _ = writeln!(
            out,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.5\"><title>{}</title></polyline>",
            row.name()
        );
    }
}

/// A round distance between marks, at least the rough one.
fn step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= rough).unwrap_or(rough)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
