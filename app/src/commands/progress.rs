//! The progress line of a terminal.

use std::io::{self, IsTerminal as _, Write as _};

/// Replaces the progress line; writes nothing unless standard error is a terminal.
pub(super) fn show(line: &str) {
    let mut terminal = io::stderr();
    if terminal.is_terminal() {
        // Erasing also works without colours. A closed terminal does not stop the work.
        write!(terminal, "\r\x1b[K{line}").unwrap_or_default();
    }
}

/// Erases the progress line.
pub(super) fn clear() {
    show("");
}
