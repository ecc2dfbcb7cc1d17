//! Design tokens: colours named by purpose.

use egui::Color32;
use serde::{Deserialize, Deserializer};

/// The colours of a theme.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tokens {
    /// Whether the theme is light or dark.
    pub base: Base,
    /// Backgrounds.
    pub surface: Surface,
    /// Lines and borders.
    pub line: Line,
    /// Text.
    pub text: Text,
    /// Interactive and selected elements.
    pub accent: Color,
    /// Results.
    pub status: Status,
    /// Sources of numbers, each with its own colour.
    pub origin: Origin,
    /// Series of a plot.
    pub series: Vec<Color>,
    /// The heat scale, from lowest to highest.
    pub heat: Vec<Color>,
    /// Source text.
    pub syntax: Syntax,
}

/// Light on dark, or dark on light.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Base {
    /// Light on dark.
    Dark,
    /// Dark on light.
    Light,
}

/// Backgrounds.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Surface {
    /// Between panels.
    pub window: Color,
    /// Panels.
    pub panel: Color,
    /// Buttons, table heads, menus.
    pub raised: Color,
    /// Under the pointer.
    pub hovered: Color,
    /// Pressed buttons.
    pub pressed: Color,
    /// Text fields.
    pub sunken: Color,
    /// Selected elements.
    pub selected: Color,
}

/// Lines and borders.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Grids of plots.
    pub faint: Color,
    /// Borders of panels.
    pub normal: Color,
    /// Axes, and the focus outline.
    pub strong: Color,
}

/// Text.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// Important numbers, titles.
    pub strong: Color,
    pub normal: Color,
    /// Labels, units, unknown values.
    pub weak: Color,
    /// Text on the accent colour.
    pub on_accent: Color,
}

/// Results.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Status {
    /// Passed, or faster.
    pub good: Color,
    /// Warnings.
    pub warning: Color,
    /// Failed, or slower.
    pub bad: Color,
    pub running: Color,
}

/// The source of a number.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// Measured by a clock of a device.
    pub measured: Color,
    /// Computed by a performance model.
    pub modelled: Color,
    /// Predicted by a user or the program.
    pub predicted: Color,
    /// Recorded on another machine.
    pub recorded: Color,
}

/// Source text.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Syntax {
    pub plain: Color,
    pub keyword: Color,
    pub kind: Color,
    pub function: Color,
    pub number: Color,
    pub string: Color,
    pub comment: Color,
    pub directive: Color,
    pub builtin: Color,
    pub register: Color,
    pub punctuation: Color,
}

/// An opaque colour, written `#rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Color(pub Color32);

impl<'de> Deserialize<'de> for Color {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "`{text}` is not a colour; expected the form `#1b2128`"
            ))
        })
    }
}

impl Color {
    fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
        let channel = |from: usize| u8::from_str_radix(digits.get(from..from + 2)?, 16).ok();
        Some(Self(Color32::from_rgb(channel(0)?, channel(2)?, channel(4)?)))
    }

    /// The colour with reduced opacity.
    #[must_use]
    pub fn faded(self, opacity: f32) -> Color32 {
        self.0.gamma_multiply(opacity)
    }

    /// The relative luminance from 0 to 1 (WCAG 2.2).
    #[must_use]
    pub fn luminance(self) -> f64 {
        let [red, green, blue, _] = self.0.to_array();
        let linear = |channel: u8| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    /// The contrast ratio from 1 to 21 (WCAG 2.2).
    #[must_use]
    pub fn contrast(self, other: Self) -> f64 {
        let (one, other) = (self.luminance() + 0.05, other.luminance() + 0.05);
        if one > other { one / other } else { other / one }
    }
}

impl From<Color> for Color32 {
    fn from(color: Color) -> Self {
        color.0
    }
}
