//! The look of the window: tokens from `assets/themes`, fonts, sizes and spacing, handed to egui in one place.

mod fonts;
mod style;
#[cfg(test)]
mod tests;
mod tokens;

use std::fmt;
use std::sync::{Arc, LazyLock};

use egui::{Context, Id, Ui};
use serde::{Deserialize, Serialize};

pub use fonts::STRONG;
pub use style::{GAP, RADIUS, ROW};
pub use tokens::{Base, Color, Tokens};

/// The themes that there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThemeName {
    /// Light on dark.
    #[default]
    Dark,
    /// Dark on light.
    Light,
    /// For a wall.
    Projector,
}

impl ThemeName {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Dark, Self::Light, Self::Projector];

    /// Its colours.
    #[must_use]
    pub fn tokens(self) -> Arc<Tokens> {
        let all = &*EMBEDDED;
        match self {
            Self::Dark => Arc::clone(&all.dark),
            Self::Light => Arc::clone(&all.light),
            Self::Projector => Arc::clone(&all.projector),
        }
    }
}

impl fmt::Display for ThemeName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Dark => "Dark",
            Self::Light => "Light",
            Self::Projector => "Projector",
        })
    }
}

struct Embedded {
    dark: Arc<Tokens>,
    light: Arc<Tokens>,
    projector: Arc<Tokens>,
}

static EMBEDDED: LazyLock<Embedded> = LazyLock::new(|| Embedded {
    dark: embedded("dark", include_str!("../../../assets/themes/dark.ron")),
    light: embedded("light", include_str!("../../../assets/themes/light.ron")),
    projector: embedded("projector", include_str!("../../../assets/themes/projector.ron")),
});

#[expect(clippy::panic, reason = "the files are part of the program, and a test reads each")]
fn embedded(name: &str, text: &str) -> Arc<Tokens> {
    match ron::from_str(text) {
        Ok(tokens) => Arc::new(tokens),
        Err(error) => panic!("assets/themes/{name}.ron: {error}"),
    }
}

/// Where egui keeps the tokens in force.
fn place() -> Id {
    Id::unique("tokens of the theme")
}

/// Puts fonts in place, once for each context.
pub fn install(context: &Context) {
    fonts::install(context);
}

/// Puts a theme in force.
pub fn apply(context: &Context, theme: ThemeName) {
    let tokens = theme.tokens();
    style::apply(context, &tokens, theme);
    context.data_mut(|data| data.insert_temp(place(), tokens));
}

/// The tokens in force.
#[must_use]
pub fn tokens(ui: &Ui) -> Arc<Tokens> {
    let found = ui.data(|data| data.get_temp::<Arc<Tokens>>(place()));
    found.unwrap_or_else(|| ThemeName::default().tokens())
}
