//! How quantities read: three significant digits and a prefix.

use std::fmt;

use super::{
    Bytes, BytesPerSecond, Flops, FlopsPerSecond, Fraction, Hertz, Intensity, Seconds, Watts,
};

const DECIMAL: [(f64, &str); 6] =
    [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];
const BINARY: [(f64, &str); 5] = [
    (1_099_511_627_776.0, "TiB"),
    (1_073_741_824.0, "GiB"),
    (1_048_576.0, "MiB"),
    (1024.0, "KiB"),
    (1.0, "B"),
];
const SHORT_TIMES: [(f64, &str); 5] =
    [(1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p")];

/// Three significant digits, in the largest step that keeps the number at one or above.
fn scaled(value: f64, steps: &[(f64, &str)], unit: &str) -> String {
    // 0.9995 is where rounding to three digits reaches the next step: 999.6 k is 1.00 M.
    let fits = |step: &&(f64, &str)| value.abs() >= 0.9995 * step.0;
    let (step, prefix) = match steps.iter().find(fits).or(steps.last()) {
        Some(&step) if value != 0.0 => step,
        _ => (1.0, steps.iter().find(|step| step.0 == 1.0).map_or("", |step| step.1)),
    };
    let number = value / step;
    let decimals = match number.abs() {
        0.0 => 0,
        size if size < 9.995 => 2,
        size if size < 99.95 => 1,
        _ => 0,
    };
    format!("{number:.decimals$} {prefix}{unit}")
}

/// A count with its digits in groups of three: `1,234,567`.
#[must_use]
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with what is counted, in the form that the count asks for: `1 run`, `12,345 runs`.
#[must_use]
pub fn counted(count: u64, one: &str, several: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { several })
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&scaled(self.0, &SHORT_TIMES, "s"))
    }
}

impl fmt::Display for Bytes {
    /// Binary multiples; whole numbers of them without decimals.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = scaled(self.as_float(), &BINARY, "");
        let (number, unit) = text.split_once(' ').unwrap_or((&text, ""));
        let number = match number.split_once('.') {
            Some((whole, decimals)) if decimals.bytes().all(|digit| digit == b'0') => whole,
            Some(_) | None => number,
        };
        f.pad(&format!("{number} {unit}"))
    }
}

impl fmt::Display for Flops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&scaled(self.0, &DECIMAL, "FLOP"))
    }
}

impl fmt::Display for Hertz {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&scaled(self.0, &DECIMAL, "Hz"))
    }
}

impl fmt::Display for BytesPerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&scaled(self.0, &DECIMAL, "B/s"))
    }
}

impl fmt::Display for FlopsPerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&scaled(self.0, &DECIMAL, "FLOP/s"))
    }
}

impl fmt::Display for Intensity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&scaled(self.0, &DECIMAL[5..], "FLOP/B"))
    }
}

impl fmt::Display for Watts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&scaled(self.0, &DECIMAL[5..], "W"))
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&scaled(self.0 * 100.0, &DECIMAL[5..], "%"))
    }
}
