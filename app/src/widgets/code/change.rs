//! Changes of a text, and selections.

/// A selection, in bytes; a cursor if both ends are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The fixed end.
    pub anchor: usize,
    /// The end with the cursor.
    pub head: usize,
}

impl Selection {
    /// An empty selection.
    #[must_use]
    pub const fn at(offset: usize) -> Self {
        Self { anchor: offset, head: offset }
    }

    /// The first byte.
    #[must_use]
    pub fn start(self) -> usize {
        self.anchor.min(self.head)
    }

    /// The end, exclusive.
    #[must_use]
    pub fn end(self) -> usize {
        self.anchor.max(self.head)
    }

    /// Whether the selection is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.anchor == self.head
    }

    /// The selection, moved to character boundaries within a text.
    #[must_use]
    pub fn within(self, text: &str) -> Self {
        Self { anchor: floor(text, self.anchor), head: floor(text, self.head) }
    }
}

/// The last character boundary at or before an offset.
#[must_use]
pub fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// A replacement of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The position, in bytes.
    pub at: usize,
    /// The removed text.
    pub removed: String,
    /// The inserted text.
    pub inserted: String,
}

impl Change {
    /// The smallest change from one text to another; `None` if they are equal.
    #[must_use]
    pub fn between(old: &str, new: &str) -> Option<Self> {
        if old == new {
            return None;
        }
        let common = old.bytes().zip(new.bytes()).take_while(|(one, other)| one == other).count();
        let at = floor(old, common).min(floor(new, common));
        let backwards = old.as_bytes()[at..].iter().rev().zip(new.as_bytes()[at..].iter().rev());
        let mut tail = backwards.take_while(|(one, other)| one == other).count();
        while !old.is_char_boundary(old.len() - tail) || !new.is_char_boundary(new.len() - tail) {
            tail -= 1;
        }
        Some(Self {
            at,
            removed: old[at..old.len() - tail].to_owned(),
            inserted: new[at..new.len() - tail].to_owned(),
        })
    }

    /// Applies the change.
    pub fn apply(&self, text: &mut String) {
        let at = floor(text, self.at);
        let end = floor(text, at + self.removed.len());
        text.replace_range(at..end, &self.inserted);
    }

    /// The inverse change.
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self { at: self.at, removed: self.inserted.clone(), inserted: self.removed.clone() }
    }

    /// The position of an offset after the change.
    #[must_use]
    pub fn moved(&self, offset: usize) -> usize {
        if offset < self.at {
            offset
        } else if offset >= self.at + self.removed.len() {
            offset - self.removed.len() + self.inserted.len()
        } else {
            self.at + (offset - self.at).min(self.inserted.len())
        }
    }
}

/// A sequence of changes, each relative to the result of the previous one, and the selection after them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    /// In order of application.
    pub changes: Vec<Change>,
    /// The selection afterwards.
    pub selection: Selection,
}

impl Edit {
    /// Applies all changes.
    pub fn apply(&self, text: &mut String) {
        for change in &self.changes {
            change.apply(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_smallest_change_is_found() {
        let check = |old: &str, new: &str, at: usize, removed: &str, inserted: &str| {
            let change = Change::between(old, new).unwrap();
            let expected =
                Change { at, removed: removed.to_owned(), inserted: inserted.to_owned() };
            assert_eq!(change, expected, "{old} -> {new}");
        };
        check("abc", "axc", 1, "b", "x");
        check("aa", "aaa", 2, "", "a");
        check("é", "è", 0, "é", "è");
        assert_eq!(Change::between("same", "same"), None);
    }

    proptest! {
        #[test]
        fn a_change_leads_there_and_back(old in "[aé\n]{0,12}", new in "[aé\n]{0,12}") {
            let mut text = old.clone();
            if let Some(change) = Change::between(&old, &new) {
                change.apply(&mut text);
                prop_assert_eq!(&text, &new);
                change.inverse().apply(&mut text);
            }
            prop_assert_eq!(&text, &old);
        }
    }
}
