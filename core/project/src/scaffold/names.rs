//! Generates unique names that the project format accepts.

use std::collections::BTreeSet;

use crate::names::{MAX_NAME, RESERVED};

/// Hands out names; axes, tensors, scalars and parameters share one space.
#[derive(Default)]
pub(super) struct Names {
    taken: BTreeSet<String>,
}

impl Names {
    /// `wanted` if it is valid and free, else a similar name.
    pub(super) fn give(&mut self, wanted: &str) -> String {
        let mut name = identifier(wanted);
        if RESERVED.contains(&name.as_str()) {
            name.push_str("_value");
        }
        let mut free = name.clone();
        for number in 2_usize.. {
            if !self.taken.contains(&free) {
                break;
            }
            let suffix = format!("_{number}");
            free = format!("{}{suffix}", &name[..name.len().min(MAX_NAME - suffix.len())]);
        }
        self.taken.insert(free.clone());
        free
    }
}

/// The nearest identifier: other characters become `_`, and the length is kept in bounds.
pub(super) fn identifier(wanted: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let mut name: String = wanted.chars().map(plain).collect();
    if !name.starts_with(|letter: char| letter == '_' || letter.is_ascii_alphabetic()) {
        name.insert(0, '_');
    }
    name.truncate(MAX_NAME);
    name
}
