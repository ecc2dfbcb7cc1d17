//! The themes of the window: tokens from `assets/themes`, fonts, sizes and spacing, applied to egui in one place.

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

/// The themes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThemeName {
    /// Light on dark.
    #[default]
    Dark,
    /// Dark on light.
    Light,
    /// High contrast for projectors.
    Projector,
}

impl ThemeName {
    pub const ALL: [Self; 3] = [Self::Dark, Self::Light, Self::Projector];

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

/// The key under which egui stores the current tokens.
fn place() -> Id {
    Id::unique("tokens of the theme")
}

/// Installs the fonts, once per context.
pub fn install(context: &Context) {
    fonts::install(context);
}

/// Applies a theme.
pub fn apply(context: &Context, theme: ThemeName) {
    let tokens = theme.tokens();
    style::apply(context, &tokens, theme);
    context.data_mut(|data| data.insert_temp(place(), tokens));
}

/// The current tokens.
#[must_use]
pub fn tokens(ui: &Ui) -> Arc<Tokens> {
    let found = ui.data(|data| data.get_temp::<Arc<Tokens>>(place()));
    found.unwrap_or_else(|| ThemeName::default().tokens())
}
