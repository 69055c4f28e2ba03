//! The chart: one bar for each contestant, key generation, encapsulation and decapsulation one after the other.

use crate::report::{Pair, Report};
use std::fmt::Write;

/// Parts of a bar: name and colour (told apart by lightness too).
const PARTS: [(&str, &str); 3] =
    [("key generation", "#1b4965"), ("encapsulation", "#3a9188"), ("decapsulation", "#f2b134")];

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 300.0;
const RIGHT: f64 = 130.0;
const TOP: f64 = 96.0;
const BAR: f64 = 20.0;
const STEP: f64 = 28.0;
const GROUP: f64 = 34.0;

/// A bar: label and the nanoseconds (medians) of its parts.
struct Bar {
    label: String,
    parts: [f64; 3],
    ours: bool,
}

impl Bar {
    fn total(&self) -> f64 {
        self.parts.iter().sum()
    }
}

/// Draws the medians of a run as an SVG image; `machine` is the line that names where it ran.
pub fn svg(report: &Report<'_>, machine: &str) -> String {
    let groups = groups(report);
    let limit = axis_limit(groups.iter().flat_map(|(_, bars)| bars));
    let plot = WIDTH - LEFT - RIGHT;
    let rows: usize = groups.iter().map(|(_, bars)| bars.len()).sum();
    let bottom = TOP + groups.len() as f64 * GROUP + rows as f64 * STEP;
    let height = bottom + 66.0;
    let mut out = String::new();
    let mut put = |line: String| writeln!(out, "{line}").expect("writing to a string works");

    put(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"DejaVu Sans, Verdana, sans-serif\" font-size=\"13\" fill=\"#1a1a1a\">"
    ));
    put(format!("<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>"));
    put("<text x=\"20\" y=\"30\" font-size=\"18\" font-weight=\"bold\">One key exchange, both sides: median time in µs \
         (shorter is better)</text>"
        .to_owned());
    for (index, (name, colour)) in PARTS.iter().enumerate() {
        let x = 20.0 + 160.0 * index as f64;
        put(format!("<rect x=\"{x}\" y=\"46\" width=\"14\" height=\"14\" fill=\"{colour}\"/>"));
        put(format!("<text x=\"{}\" y=\"58\">{name}</text>", x + 20.0));
    }

    let step = axis_step(limit);
    let mut mark = 0.0;
    while mark <= limit {
        let x = LEFT + plot * mark / limit;
        put(format!("<line x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom}\" stroke=\"#dddddd\"/>"));
        put(format!(
            "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\" fill=\"#555555\">{:.0}</text>",
            TOP - 8.0,
            mark / 1000.0
        ));
        mark += step;
    }

    let mut y = TOP;
    for (title, bars) in &groups {
        y += GROUP;
        put(format!("<text x=\"20\" y=\"{:.1}\" font-size=\"14\" font-weight=\"bold\">{title}</text>", y - 9.0));
        for bar in bars {
            draw_bar(&mut put, bar, y, limit, plot);
            y += STEP;
        }
    }
    put(format!(
        "<text x=\"20\" y=\"{}\" font-size=\"12\" fill=\"#555555\">A bar with a gap is longer than the axis; its figure is \
         the whole. X25519: a key pair and a derivation on each side.</text>",
        bottom + 26.0
    ));
    put(format!("<text x=\"20\" y=\"{}\" font-size=\"12\" fill=\"#555555\">{}</text>", bottom + 46.0, escape(machine)));
    put("</svg>".to_owned());
    out
}

/// Draws a bar, its label and its figure; one that passes the axis is cut by a gap.
fn draw_bar(put: &mut impl FnMut(String), bar: &Bar, y: f64, limit: f64, plot: f64) {
    let weight = if bar.ours { " font-weight=\"bold\"" } else { "" };
    let middle = y + BAR / 2.0 + 5.0;
    let label = escape(&bar.label);
    put(format!("<text x=\"{}\" y=\"{middle:.1}\" text-anchor=\"end\"{weight}>{label}</text>", LEFT - 10.0));
    let mut from = 0.0;
    for (part, (name, colour)) in bar.parts.iter().zip(PARTS) {
        let to = (from + part).min(limit);
        if to > from {
            let (x, width) = (LEFT + plot * from / limit, plot * (to - from) / limit);
            put(format!(
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{BAR}\" fill=\"{colour}\">\
                 <title>{label}, {name}: {:.1} µs</title></rect>",
                part / 1000.0
            ));
        }
        from = to;
    }
    if bar.total() > limit {
        let x = LEFT + plot - 26.0;
        put(format!(
            "<polygon points=\"{:.1},{:.1} {:.1},{:.1} {:.1},{:.1} {:.1},{:.1}\" fill=\"#ffffff\"/>",
            x,
            y + BAR + 1.0,
            x + 6.0,
            y - 1.0,
            x + 12.0,
            y - 1.0,
            x + 6.0,
            y + BAR + 1.0
        ));
    }
    let end = LEFT + plot * bar.total().min(limit) / limit + 8.0;
    put(format!("<text x=\"{end:.1}\" y=\"{middle:.1}\"{weight}>{}</text>", microseconds(bar.total())));
}

/// The bars by parameter set, the quickest first.
fn groups(report: &Report<'_>) -> Vec<(&'static str, Vec<Bar>)> {
    let bar = |implementation: &str, set: &str, batch: usize, label: String| {
        let parts = report.exchange(implementation, set, batch)?.map(|pair: Pair| pair.median);
        Some(Bar { label, parts, ours: implementation.starts_with("ours") })
    };
    let sntrup = |set: &'static str| {
        let mut bars = Vec::new();
        for (implementation, name) in [("ours-avx2", "engNTRU, AVX2"), ("ours-portable", "engNTRU, portable")] {
            bars.extend(bar(implementation, set, 32, format!("{name}, batch of 32")));
            bars.extend(bar(implementation, set, 1, format!("{name}, single key")));
        }
        for (implementation, name) in [
            ("sntrup-crate", "crate sntrup"),
            ("liboqs", "liboqs"),
            ("pqcrypto-avx2", "pqcrypto-ntruprime, AVX2"),
            ("pqcrypto-clean", "pqcrypto-ntruprime, clean"),
        ] {
            bars.extend(bar(implementation, set, 1, name.to_owned()));
        }
        bars
    };
    let others = [
        bar("aws-lc", "ml-kem-768", 1, "ML-KEM-768, aws-lc".to_owned()),
        bar("libcrux", "ml-kem-768", 1, "ML-KEM-768, libcrux".to_owned()),
        bar("aws-lc", "x25519", 1, "X25519, aws-lc".to_owned()),
    ];
    let mut groups = vec![
        ("sntrup761", sntrup("sntrup761")),
        ("what else one would use", others.into_iter().flatten().collect()),
        ("sntrup653", sntrup("sntrup653")),
        ("sntrup857", sntrup("sntrup857")),
    ];
    groups.retain(|(_, bars)| !bars.is_empty());
    for (_, bars) in &mut groups {
        bars.sort_by(|a, b| a.total().total_cmp(&b.total()));
    }
    groups
}

/// The end of the axis: the longest bar that is at most eight times the shortest, so that the short ones stay legible.
fn axis_limit<'a>(bars: impl Iterator<Item = &'a Bar>) -> f64 {
    let totals: Vec<f64> = bars.map(Bar::total).collect();
    let shortest = totals.iter().copied().fold(f64::INFINITY, f64::min);
    1.04 * totals.into_iter().filter(|total| *total <= 8.0 * shortest).fold(0.0, f64::max)
}

/// A round distance of marks, at most ten of them.
fn axis_step(limit: f64) -> f64 {
    let rough = limit / 10.0;
    let power = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= rough).unwrap_or(limit)
}

fn microseconds(ns: f64) -> String {
    if ns < 1e5 { format!("{:.1}", ns / 1000.0) } else { format!("{:.0}", ns / 1000.0) }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
