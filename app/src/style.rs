//! The styles of the terminal, each with one meaning.

use anstyle::{AnsiColor, Style};

pub const ERROR: Style = AnsiColor::Red.on_default().bold();
pub const NOTE: Style = AnsiColor::Yellow.on_default().bold();
pub const GOOD: Style = AnsiColor::Green.on_default();
pub const STRONG: Style = Style::new().bold();
pub const DIM: Style = Style::new().dimmed();
