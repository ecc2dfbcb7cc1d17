//! Axes: their quantities, the mapping from values to positions, and the visible range.

use crate::units::{Bytes, BytesPerSecond, FlopsPerSecond, Fraction, Intensity, Seconds};

/// The unit of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Operations a second.
    FlopsPerSecond,
    /// Bytes a second.
    BytesPerSecond,
    /// Operations for each byte.
    Intensity,
    /// A fraction, shown in percent.
    Fraction,
    /// Bytes, in powers of two.
    Bytes,
    /// A factor.
    Factor,
    /// A plain number.
    Count,
}

impl Unit {
    /// A value with three digits and its unit.
    #[must_use]
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Seconds => Seconds(value).to_string(),
            Self::FlopsPerSecond => FlopsPerSecond(value).to_string(),
            Self::BytesPerSecond => BytesPerSecond(value).to_string(),
            Self::Intensity => Intensity(value).to_string(),
            Self::Fraction => Fraction(value).to_string(),
            Self::Factor => format!("{value:.2} ×"),
            Self::Bytes if value >= 0.0 => Bytes(value as u64).to_string(),
            Self::Bytes | Self::Count => format!("{value}"),
        }
    }

    /// The suffix of an axis title; empty if the labels have the unit.
    #[must_use]
    pub const fn in_title(self) -> Option<&'static str> {
        match self {
            Self::FlopsPerSecond => Some("FLOP/s"),
            Self::Intensity => Some("FLOP/B"),
            Self::Seconds
            | Self::BytesPerSecond
            | Self::Fraction
            | Self::Bytes
            | Self::Factor
            | Self::Count => None,
        }
    }

    /// The suffix of each tick label, after the SI prefix.
    pub(super) const fn in_labels(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::BytesPerSecond => "B/s",
            Self::Bytes => "B",
            Self::Factor => "×",
            Self::FlopsPerSecond | Self::Intensity | Self::Fraction | Self::Count => "",
        }
    }
}

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equally far apart.
    Linear,
    /// Equal ratios are equally far apart; only positive values have a place.
    Logarithmic,
}

impl Scale {
    /// The position of a value; `None` if the scale cannot show it.
    #[must_use]
    pub fn place(self, value: f64) -> Option<f64> {
        match self {
            Self::Linear => Some(value),
            Self::Logarithmic => (value > 0.0).then(|| value.log10()),
        }
        .filter(|place| place.is_finite() && value.is_finite())
    }

    /// The value at a place.
    #[must_use]
    pub fn value(self, place: f64) -> f64 {
        match self {
            Self::Linear => place,
            Self::Logarithmic => 10_f64.powf(place),
        }
    }
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The title.
    pub title: String,
    /// The unit.
    pub unit: Unit,
    /// The scale of an axis.
    pub scale: Scale,
    /// Values that are seen whatever the data are; a bar chart's zero, for instance.
    pub always: Vec<f64>,
    /// The margin beside the data.
    pub margin: Margin,
}

/// A margin beside the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Margin {
    /// On both sides.
    Both,
    /// Only at the upper end: bars start at the lower end.
    Above,
}

impl Axis {
    /// A linear axis.
    #[must_use]
    pub fn linear(title: impl Into<String>, unit: Unit) -> Self {
        let (scale, always, margin) = (Scale::Linear, Vec::new(), Margin::Both);
        Self { title: title.into(), unit, scale, always, margin }
    }

    /// A logarithmic axis.
    #[must_use]
    pub fn logarithmic(title: impl Into<String>, unit: Unit) -> Self {
        Self { scale: Scale::Logarithmic, ..Self::linear(title, unit) }
    }

    /// An axis from zero, for lengths.
    #[must_use]
    pub fn from_zero(title: impl Into<String>, unit: Unit) -> Self {
        Self { always: vec![0.0], margin: Margin::Above, ..Self::linear(title, unit) }
    }

    /// The axis, with values that are always visible.
    #[must_use]
    pub fn showing(mut self, values: impl IntoIterator<Item = f64>) -> Self {
        self.always.extend(values);
        self
    }

    /// The title with its unit.
    #[must_use]
    pub fn heading(&self) -> String {
        match self.unit.in_title() {
            Some(unit) => format!("{} ({unit})", self.title),
            None => self.title.clone(),
        }
    }

    /// The range that shows all positions, with a margin.
    pub(super) fn fit(&self, places: impl Iterator<Item = f64>) -> Limits {
        let always = self.always.iter().filter_map(|value| self.scale.place(*value));
        let ends = places.chain(always).fold(None, |ends: Option<(f64, f64)>, place| {
            let (low, high) = ends.unwrap_or((place, place));
            Some((low.min(place), high.max(place)))
        });
        let (low, high) = ends.unwrap_or((0.0, 1.0));
        // A single position is centred.
        let (least, share) = match self.scale {
            Scale::Linear if self.unit == Unit::Count => (0.5, 0.05),
            Scale::Linear => (high.abs().max(low.abs()) * 0.02, 0.06),
            Scale::Logarithmic => (0.04, 0.05),
        };
        let room = ((high - low) * share).max(least).max(f64::MIN_POSITIVE);
        let below = match self.margin {
            Margin::Both => room,
            Margin::Above => 0.0,
        };
        Limits::between(low - below, high + room)
    }
}

/// The visible range of an axis, as positions: logarithms on a logarithmic axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    low: f64,
    high: f64,
}

impl Limits {
    /// Between two places; always finite, and never empty.
    #[must_use]
    pub fn between(low: f64, high: f64) -> Self {
        let finite = |place: f64| {
            if place.is_finite() { place.clamp(-LARGEST, LARGEST) } else { 0.0 }
        };
        let (low, high) = (finite(low.min(high)), finite(low.max(high)));
        let least = (low.abs().max(high.abs()) * 1e-9).max(1e-300);
        if high - low >= least { Self { low, high } } else { Self { low, high: low + least } }
    }

    /// The lower end.
    #[must_use]
    pub const fn low(self) -> f64 {
        self.low
    }

    /// The upper end.
    #[must_use]
    pub const fn high(self) -> f64 {
        self.high
    }

    /// The length of the range.
    #[must_use]
    pub fn span(self) -> f64 {
        self.high - self.low
    }

    /// Whether a position is visible.
    #[must_use]
    pub fn contains(self, place: f64) -> bool {
        (self.low..=self.high).contains(&place)
    }

    /// The relative position: 0 at the lower end, 1 at the upper end.
    #[must_use]
    pub fn share(self, place: f64) -> f64 {
        (place - self.low) / self.span()
    }

    /// The place at a share.
    #[must_use]
    pub fn at(self, share: f64) -> f64 {
        self.low + share * self.span()
    }

    /// The range scaled by a factor around a fixed relative position.
    #[must_use]
    pub fn zoomed(self, factor: f64, around: f64) -> Self {
        let center = self.at(around);
        Self::between(center - (center - self.low) * factor, center + (self.high - center) * factor)
    }
}

/// Places beyond have no pictures.
const LARGEST: f64 = 1e300;

/// The visible part of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// From left to right.
    pub x: Limits,
    /// From below.
    pub y: Limits,
}
