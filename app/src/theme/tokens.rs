//! Design tokens: what colours are for. Code names a purpose, never a colour.

use egui::Color32;
use serde::{Deserialize, Deserializer};

/// The colours of a theme.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tokens {
    /// What it is close to.
    pub base: Base,
    /// What things stand on.
    pub surface: Surface,
    /// What separates things.
    pub line: Line,
    /// What is read.
    pub text: Text,
    /// What can be acted on, and what is chosen.
    pub accent: Color,
    /// How something went.
    pub status: Status,
    /// Where a number comes from; none of them may look like another.
    pub origin: Origin,
    /// Things side by side in one plot.
    pub series: Vec<Color>,
    /// From nothing to most.
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

/// What things stand on.
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
    /// Under a pressed button.
    pub pressed: Color,
    /// Text that can be edited.
    pub sunken: Color,
    /// What is chosen.
    pub selected: Color,
}

/// What separates things.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Grids of plots.
    pub faint: Color,
    /// Edges of panels.
    pub normal: Color,
    /// Axes, and what has the focus.
    pub strong: Color,
}

/// What is read.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// Numbers that matter, titles.
    pub strong: Color,
    /// Text.
    pub normal: Color,
    /// Labels, units, what is not known.
    pub weak: Color,
    /// On the accent.
    pub on_accent: Color,
}

/// How something went.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Status {
    /// It passed, it is faster.
    pub good: Color,
    /// It should be looked at.
    pub warning: Color,
    /// It failed, it is slower.
    pub bad: Color,
    /// It goes on.
    pub running: Color,
}

/// Where a number comes from.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// A clock of a device.
    pub measured: Color,
    /// A model of a device.
    pub modelled: Color,
    /// A guess, a student's or a program's.
    pub predicted: Color,
    /// Another machine.
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
            serde::de::Error::custom(format!("`{text}` is no colour like `#1b2128`"))
        })
    }
}

impl Color {
    fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
        let channel = |from: usize| u8::from_str_radix(digits.get(from..from + 2)?, 16).ok();
        Some(Self(Color32::from_rgb(channel(0)?, channel(2)?, channel(4)?)))
    }

    /// The same colour, seen through.
    #[must_use]
    pub fn faded(self, opacity: f32) -> Color32 {
        self.0.gamma_multiply(opacity)
    }

    /// How much light it gives, from 0 to 1 (WCAG 2.2, relative luminance).
    #[must_use]
    pub fn luminance(self) -> f64 {
        let [red, green, blue, _] = self.0.to_array();
        let linear = |channel: u8| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    /// How well one is told from the other, from 1 to 21 (WCAG 2.2, contrast ratio).
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
