//! Checks header names.

use super::Reason;

/// Checks the operand of an include, without looking at any file.
pub(super) fn check(name: &str) -> Result<(), Reason> {
    let owned = || name.to_owned();
    if name.is_empty() {
        return Err(Reason::EmptyName);
    }
    if is_absolute(name) {
        return Err(Reason::AbsolutePath { name: printable(name)? });
    }
    if name.contains('\\') {
        return Err(Reason::Backslash { name: printable(name)? });
    }
    printable(name)?;
    let components: Vec<&str> = name.split('/').collect();
    if components.contains(&"..") {
        return Err(Reason::ParentFolder { name: owned() });
    }
    if components.iter().any(|each| each.is_empty() || *each == ".") {
        return Err(Reason::EmptyComponent { name: owned() });
    }
    if is_reserved(&components) {
        return Err(Reason::Reserved { name: owned() });
    }
    Ok(())
}

fn is_absolute(name: &str) -> bool {
    let bytes = name.as_bytes();
    let drive = bytes.len() >= 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':';
    drive || matches!(bytes.first(), Some(b'/' | b'\\' | b'~'))
}

/// The name, if all its characters are safe in error messages and in file names of every system.
fn printable(name: &str) -> Result<String, Reason> {
    let allowed = |each: char| {
        each.is_alphanumeric() || matches!(each, '_' | '-' | '+' | '.' | '/' | '\\' | '~' | ' ')
    };
    let drive = usize::from(is_absolute(name)) * 2;
    let wrong = |&(at, each): &(usize, char)| !allowed(each) && (each != ':' || at >= drive);
    match name.char_indices().find(wrong) {
        Some((_, character)) => Err(Reason::NameCharacter { character }),
        None => Ok(name.to_owned()),
    }
}

/// Compared case-insensitively, because some file systems are case-insensitive.
fn is_reserved(components: &[&str]) -> bool {
    let lower: Vec<String> = components.iter().map(|each| each.to_lowercase()).collect();
    let folders = &lower[..lower.len() - 1];
    let last = &lower[lower.len() - 1];
    let trimmed = last.trim_end_matches(['.', ' ']);
    let kernel = trimmed.ends_with(".cu") || trimmed.ends_with(".ptx");
    kernel
        || trimmed == "project.ron"
        || lower.iter().any(|each| each == ".lightbench")
        || folders.first().is_some_and(|each| each == "wrong" || each == "kernels")
}
