//! Welch's t-test over two classes of timings, on all of them and on those below a number of percentiles.

use std::fmt;

/// Percentiles below which the timings are tested by themselves.
const CROPS: usize = 50;
/// The percentile that is the median.
const HALF: usize = CROPS / 10 - 1;
/// Timings that fix the percentiles; they are not tested.
const CALIBRATION: usize = 1_000;
/// Timings of each class without which nothing is said.
const ENOUGH: f64 = 1_000.0;
/// A |t| above this counts as a difference. Fifty-two tests on the same timings reach 4.5 by chance in about one run of
/// several thousand; dudect itself draws the line at 10.
const LIMIT: f64 = 4.5;

/// Mean and spread of one class, updated with each value (Welford).
#[derive(Clone, Copy, Default)]
struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        let distance = value - self.mean;
        self.mean += distance / self.count;
        self.squares += distance * (value - self.mean);
    }

    fn variance(&self) -> f64 {
        self.squares / (self.count - 1.0)
    }
}

/// Welch's t of two classes; 0 as long as there are too few values to tell.
fn welch(classes: &[Moments; 2]) -> f64 {
    let [a, b] = classes;
    if a.count < ENOUGH || b.count < ENOUGH {
        return 0.0;
    }
    let spread = (a.variance() / a.count + b.variance() / b.count).sqrt();
    if spread == 0.0 { 0.0 } else { (a.mean - b.mean) / spread }
}

/// A running test.
pub(crate) struct Test {
    calibration: Vec<f64>,
    limits: Vec<f64>,
    all: [Moments; 2],
    below: Vec<[Moments; 2]>,
    spread: [Moments; 2],
}

impl Test {
    pub(crate) fn new() -> Self {
        Test {
            calibration: Vec::with_capacity(CALIBRATION),
            limits: Vec::new(),
            all: Default::default(),
            below: vec![Default::default(); CROPS],
            spread: Default::default(),
        }
    }

    /// Adds a timing of class 0 or 1.
    pub(crate) fn add(&mut self, class: usize, value: f64) {
        if self.limits.is_empty() {
            self.calibration.push(value);
            if self.calibration.len() == CALIBRATION {
                self.calibrate();
            }
            return;
        }
        self.all[class].add(value);
        for (limit, moments) in self.limits.iter().zip(&mut self.below) {
            if value < *limit {
                moments[class].add(value);
            }
        }
        // The centred second moment, over the timings that are no outliers.
        if value < self.limits[CROPS - 1] {
            let centre = self.below[CROPS - 1][class].mean;
            self.spread[class].add((value - centre) * (value - centre));
        }
    }

    /// Percentiles as in dudect: 1 - 2^(-10 k/n), dense at the upper end; the last one is 99.9 %.
    fn calibrate(&mut self) {
        self.calibration.sort_unstable_by(f64::total_cmp);
        let share = |k: usize| 1.0 - 0.5f64.powf(10.0 * k as f64 / CROPS as f64);
        self.limits = (1..=CROPS).map(|k| self.calibration[(share(k) * CALIBRATION as f64) as usize]).collect();
    }

    /// The t of largest size among all tests.
    fn largest(&self) -> f64 {
        let tests = self.below.iter().chain([&self.all, &self.spread]);
        tests.map(welch).fold(0.0, |largest, t| if t.abs() > f64::abs(largest) { t } else { largest })
    }

    /// Whether the classes differ; nothing as long as there are too few timings to tell.
    pub(crate) fn differs(&self) -> Option<bool> {
        let enough = self.all.iter().all(|class| class.count >= ENOUGH);
        enough.then(|| self.largest().abs() > LIMIT)
    }
}

impl fmt::Display for Test {
    /// Timings, median, difference of the means of the faster half, and the largest |t|, as cells of a table.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let median = self.calibration.get(self.calibration.len().div_euclid(2)).copied().unwrap_or(0.0);
        let [a, b] = self.below[HALF];
        let count = self.all[0].count + self.all[1].count;
        write!(f, "{count} | {median:.0} | {:.2} | {:.2}", a.mean - b.mean, self.largest().abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Timings with a spread of about 29 and, for class 1, a shift.
    fn test_with_shift(shift: f64) -> Test {
        let mut test = Test::new();
        let mut state = 1u64;
        for _ in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let class = (state >> 63) as usize;
            let noise = (state >> 32 & 0xffff) as f64 * (100.0 / 65536.0);
            test.add(class, 1000.0 + noise + if class == 1 { shift } else { 0.0 });
        }
        test
    }

    #[test]
    fn a_shift_is_seen_and_noise_is_not() {
        assert_eq!(test_with_shift(0.0).differs(), Some(false), "{}", test_with_shift(0.0));
        assert_eq!(test_with_shift(1.0).differs(), Some(true), "{}", test_with_shift(1.0));
        assert_eq!(Test::new().differs(), None);
    }

    #[test]
    fn t_of_a_known_case() {
        let mut classes = [Moments::default(); 2];
        for i in 0..2000 {
            classes[0].add(f64::from(i & 1));
            classes[1].add(f64::from(i & 1) + 1.0);
        }
        // Means 0.5 and 1.5, variances 0.25 (n - 1 below): t = -1 / sqrt(2 * 0.25 / 2000) up to the n - 1.
        assert!((welch(&classes) + 63.23).abs() < 0.01, "{}", welch(&classes));
    }
}
