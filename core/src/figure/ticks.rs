//! The ticks of an axis and their labels: round numbers, as many as fit.

use super::axis::{Axis, Limits, Scale, Unit};

/// A place on an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    /// Where.
    pub(super) place: f64,
    /// The label; empty for a minor tick.
    pub(super) label: Option<String>,
}

/// The largest number of ticks that fits.
pub(super) fn ticks(axis: &Axis, limits: Limits, fit: impl Fn(&[Tick]) -> bool) -> Vec<Tick> {
    match axis.scale {
        Scale::Linear => linear(axis.unit, limits, fit, Some),
        Scale::Logarithmic if limits.span() < 0.75 => {
            let values = Limits::between(10_f64.powf(limits.low()), 10_f64.powf(limits.high()));
            let place =
                |value: f64| axis.scale.place(value).filter(|place| limits.contains(*place));
            linear(axis.unit, values, fit, place)
        }
        Scale::Logarithmic => logarithmic(axis.unit, limits, fit),
    }
}

/// Steps of 1, 2 or 5 times a power of ten, the narrowest that fit.
fn linear(
    unit: Unit,
    limits: Limits,
    fit: impl Fn(&[Tick]) -> bool,
    place: impl Fn(f64) -> Option<f64>,
) -> Vec<Tick> {
    let finest = (limits.span() / 12.0).log10().floor();
    let steps = (0..4).flat_map(|power| {
        [1.0, 2.0, 5.0].map(|multiple| multiple * 10_f64.powf(finest + f64::from(power)))
    });
    let mut few = Vec::new();
    // Counts have whole-number ticks.
    let least = if unit == Unit::Count { 1.0 } else { 0.0 };
    for step in steps.filter(|step| step.is_normal() && *step >= least) {
        let (first, last) = ((limits.low() / step).ceil(), (limits.high() / step).floor());
        if last - first > 40.0 || !first.is_finite() || !last.is_finite() {
            continue;
        }
        let count = (last - first).max(-1.0) as i32;
        // Instead of an empty list, the last non-empty one is used.
        let labels = Labels::new(unit, limits, step);
        let values = (0..=count).map(|index| (first + f64::from(index)) * step);
        let all: Vec<Tick> = values
            .filter(|value| limits.contains(*value))
            .filter_map(|value| {
                Some(Tick { place: place(value)?, label: Some(labels.text(value)) })
            })
            .collect();
        if all.is_empty() {
            return few;
        }
        if fit(&all) {
            return all;
        }
        few = all;
    }
    few.truncate(1);
    few
}

/// Labelled powers of ten with minor ticks between them; labels at 1, 2, 5 for few powers, and at every n-th power for
/// many.
fn logarithmic(unit: Unit, limits: Limits, fit: impl Fn(&[Tick]) -> bool) -> Vec<Tick> {
    // The range of powers that values can have.
    let power = |place: f64| place.clamp(-330.0, 310.0) as i32;
    let (first, last) = (power(limits.low().floor()), power(limits.high().ceil()));
    let labelled = |multiples: &[f64], every: i32| -> Vec<Tick> {
        let powers = (first..=last).filter(|power| power.rem_euclid(every) == 0);
        let all = powers.flat_map(|power| {
            multiples
                .iter()
                .map(move |multiple| (f64::from(power) + multiple.log10(), multiple, power))
        });
        all.filter(|(place, _, _)| limits.contains(*place))
            .map(|(place, multiple, power)| Tick {
                place,
                label: Some(decade(unit, *multiple, power)),
            })
            .collect()
    };
    let ways: [(&[f64], i32); 9] = [
        (&[1.0, 2.0, 5.0], 1),
        (&[1.0, 3.0], 1),
        (&[1.0], 1),
        (&[1.0], 2),
        (&[1.0], 3),
        (&[1.0], 6),
        (&[1.0], 12),
        (&[1.0], 30),
        (&[1.0], 120),
    ];
    // Many decades read best with their powers alone.
    let ways = if limits.span() > 2.8 { &ways[2..] } else { &ways[..] };
    let found =
        ways.iter().map(|(multiples, every)| labelled(multiples, *every)).find(|all| fit(all));
    let mut all = found.unwrap_or_default();
    if limits.span() <= 12.0 {
        let minors = (first..=last).flat_map(|power| {
            (1..10).map(move |multiple| f64::from(power) + f64::from(multiple).log10())
        });
        let is_new = |place: &f64| !all.iter().any(|tick| (tick.place - place).abs() < 1e-9);
        let minors: Vec<f64> =
            minors.filter(|place| limits.contains(*place)).filter(is_new).collect();
        all.extend(minors.into_iter().map(|place| Tick { place, label: None }));
        all.sort_by(|a, b| a.place.total_cmp(&b.place));
    }
    all
}

/// Prefixes by powers of a thousand.
const PREFIXES: [(i32, &str); 11] = [
    (15, "P"),
    (12, "T"),
    (9, "G"),
    (6, "M"),
    (3, "k"),
    (0, ""),
    (-3, "m"),
    (-6, "µ"),
    (-9, "n"),
    (-12, "p"),
    (-15, "f"),
];

/// `20 µs`, `5 T`, `0.1`.
fn decade(unit: Unit, multiple: f64, power: i32) -> String {
    let plain = match unit {
        Unit::Fraction => return with_unit(&number(multiple, power + 2), "%"),
        Unit::Intensity | Unit::Factor => true,
        Unit::Seconds | Unit::FlopsPerSecond | Unit::BytesPerSecond | Unit::Bytes | Unit::Count => {
            false
        }
    };
    if plain && (-4..=5).contains(&power) {
        return with_unit(&number(multiple, power), unit.in_labels());
    }
    let known = PREFIXES.iter().find(|(of, _)| *of == power.div_euclid(3) * 3);
    match known {
        Some((of, prefix)) if !plain => {
            with_unit(&number(multiple, power - of), &format!("{prefix}{}", unit.in_labels()))
        }
        Some(_) | None => with_unit(&format!("{multiple}e{power}"), unit.in_labels()),
    }
}

fn number(multiple: f64, power: i32) -> String {
    if (-9..=9).contains(&power) {
        let decimals = usize::try_from(-power).unwrap_or(0);
        format!("{:.decimals$}", multiple * 10_f64.powi(power))
    } else {
        format!("{multiple}e{power}")
    }
}

fn with_unit(number: &str, unit: &str) -> String {
    if unit.is_empty() { number.to_owned() } else { format!("{number} {unit}") }
}

/// The format of all labels of a linear axis: one prefix, with the decimals that the step needs.
struct Labels {
    factor: f64,
    decimals: usize,
    unit: String,
}

impl Labels {
    fn new(unit: Unit, limits: Limits, step: f64) -> Self {
        let largest = limits.low().abs().max(limits.high().abs());
        let (power, prefix) = match unit {
            Unit::Fraction => (-2, "%"),
            Unit::Intensity | Unit::Factor => (0, ""),
            Unit::Count if largest < 1e5 => (0, ""),
            Unit::Seconds
            | Unit::FlopsPerSecond
            | Unit::BytesPerSecond
            | Unit::Bytes
            | Unit::Count => {
                let fits = |(power, _): &&(i32, &str)| largest >= 0.999 * 10_f64.powi(*power);
                PREFIXES.iter().find(fits).copied().unwrap_or((-15, "f"))
            }
        };
        let factor = 10_f64.powi(-power);
        let decimals = (-(step * factor * 1.0001).log10().floor()).clamp(0.0, 9.0) as usize;
        Self { factor, decimals, unit: format!("{prefix}{}", unit.in_labels()) }
    }

    fn text(&self, value: f64) -> String {
        // No minus before a zero.
        let value = if value == 0.0 { 0.0 } else { value * self.factor };
        let size = value.abs();
        let number =
            if size >= 1e7 { format!("{value:e}") } else { format!("{value:.*}", self.decimals) };
        with_unit(&number, &self.unit)
    }
}
