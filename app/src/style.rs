//! The few styles of the terminal, each with one meaning.

use anstyle::{AnsiColor, Style};

/// Something is wrong.
pub const ERROR: Style = AnsiColor::Red.on_default().bold();
/// Something to know, or to look at.
pub const NOTE: Style = AnsiColor::Yellow.on_default().bold();
/// All is well.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// What a line is about.
pub const STRONG: Style = Style::new().bold();
/// What may be skipped.
pub const DIM: Style = Style::new().dimmed();
