//! IBM Plex: one family for text and code with equal digit widths, so that columns of numbers do not move.
//!
//! Marks such as arrows and stars are drawn (`widgets::icon`), because fonts render them differently. Text in other
//! scripts uses the system's fonts.

use std::sync::Arc;

use egui::{Context, FontData, FontDefinitions, FontFamily};

/// The font family for emphasis.
pub const STRONG: &str = "strong";

const REGULAR: &str = "plex-sans";
const SEMI_BOLD: &str = "plex-sans-semibold";
const MONO: &str = "plex-mono";

pub(super) fn install(context: &Context) {
    let mut fonts = FontDefinitions::empty();
    let files: [(&str, &[u8]); 3] = [
        (REGULAR, include_bytes!("../../../assets/fonts/IBMPlexSans-Regular.ttf")),
        (SEMI_BOLD, include_bytes!("../../../assets/fonts/IBMPlexSans-SemiBold.ttf")),
        (MONO, include_bytes!("../../../assets/fonts/IBMPlexMono-Regular.ttf")),
    ];
    for (name, bytes) in files {
        fonts.font_data.insert(name.to_owned(), Arc::new(FontData::from_static(bytes)));
    }
    let chain = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    fonts.families.insert(FontFamily::Proportional, chain(&[REGULAR, MONO]));
    fonts.families.insert(FontFamily::Monospace, chain(&[MONO, REGULAR]));
    fonts.families.insert(FontFamily::Name(STRONG.into()), chain(&[SEMI_BOLD, REGULAR, MONO]));
    context.set_fonts(fonts);
}
