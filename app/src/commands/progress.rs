//! One line on a terminal that is written over while something goes on.

use std::io::{self, IsTerminal as _, Write as _};

/// Replaces the line; elsewhere than on a terminal nothing is written.
pub(super) fn show(line: &str) {
    let mut terminal = io::stderr();
    if terminal.is_terminal() {
        // Erasing is no colour, so that it is done without colours too. A terminal that is gone does not stop the work.
        write!(terminal, "\r\x1b[K{line}").unwrap_or_default();
    }
}

/// Leaves the line empty.
pub(super) fn clear() {
    show("");
}
