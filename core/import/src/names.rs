//! Names from foreign files: identifiers of the project format, and relative paths.

use std::collections::BTreeSet;

use lightbench_project::names::{MAX_NAME, RESERVED};

/// Gives unique names that the project format, C++ and Python accept.
#[derive(Debug, Default)]
pub struct NameGiver {
    taken: BTreeSet<String>,
}

/// Words of Python that are no words of the project format.
const PYTHON: [&str; 23] = [
    "False", "None", "True", "as", "assert", "async", "await", "def", "del", "elif", "except",
    "finally", "from", "global", "import", "in", "is", "lambda", "nonlocal", "pass", "raise",
    "with", "yield",
];

impl NameGiver {
    /// `wanted` if it is valid and free, else a similar name.
    pub fn give(&mut self, wanted: &str) -> String {
        let mut name = identifier(wanted);
        if RESERVED.contains(&name.as_str()) || PYTHON.contains(&name.as_str()) {
            name.push('_');
        }
        let mut free = name.clone();
        for number in 2_usize.. {
            if self.taken.insert(free.clone()) {
                break;
            }
            let suffix = format!("_{number}");
            let kept = name.len().min(MAX_NAME - suffix.len());
            free = format!("{}{suffix}", name.get(..kept).unwrap_or_default());
        }
        free
    }
}

/// The nearest identifier: other characters become `_`, and the length is kept in bounds.
fn identifier(wanted: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let mut name: String = wanted.chars().take(MAX_NAME - 2).map(plain).collect();
    if !name.starts_with(|letter: char| letter == '_' || letter.is_ascii_alphabetic()) {
        name.insert(0, '_');
    }
    name
}

/// The nearest name of a project, a workload or a kernel file: letters, digits, `_`, `-` and `.`.
#[must_use]
pub(crate) fn file_name(wanted: &str) -> String {
    let plain = |letter: char| {
        let valid = letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
        if valid { letter } else { '-' }
    };
    let name: String = wanted.chars().take(MAX_NAME).map(plain).collect();
    let name = name.trim_start_matches(['-', '.']).to_owned();
    if name.is_empty() { "imported".to_owned() } else { name }
}

/// A path of a foreign file as parts below a folder, with `/` between them.
///
/// # Errors
///
/// In words, if the path is absolute or empty, or contains `..`, `\`, a NUL or another control character, or a drive.
pub fn relative_path(written: &str) -> Result<String, String> {
    let refused = |what: &str| Err(format!("the path `{}` {what}", written.escape_debug()));
    if written.chars().any(char::is_control) {
        return refused("contains a control character");
    }
    if written.starts_with('/') {
        return refused("is absolute");
    }
    if written.contains(['\\', ':']) {
        return refused("contains `\\` or `:`");
    }
    let parts: Vec<&str> =
        written.split('/').filter(|part| *part != "." && !part.is_empty()).collect();
    if parts.contains(&"..") {
        return refused("contains `..`");
    }
    if parts.is_empty() {
        return refused("names no file");
    }
    Ok(parts.join("/"))
}
