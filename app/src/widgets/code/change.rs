//! Changes of a text: what stood where, and what stands there now.

/// What is selected, in bytes; a cursor where both ends are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Where it began.
    pub anchor: usize,
    /// Where the cursor is.
    pub head: usize,
}

impl Selection {
    /// A cursor.
    #[must_use]
    pub const fn at(offset: usize) -> Self {
        Self { anchor: offset, head: offset }
    }

    /// The first byte.
    #[must_use]
    pub fn start(self) -> usize {
        self.anchor.min(self.head)
    }

    /// Behind the last byte.
    #[must_use]
    pub fn end(self) -> usize {
        self.anchor.max(self.head)
    }

    /// Whether it is a cursor.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.anchor == self.head
    }

    /// The nearest one that a text has.
    #[must_use]
    pub fn within(self, text: &str) -> Self {
        Self { anchor: floor(text, self.anchor), head: floor(text, self.head) }
    }
}

/// The last boundary of a character that is not behind an offset.
#[must_use]
pub fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// One text in the place of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Where, in bytes.
    pub at: usize,
    /// What stood there.
    pub removed: String,
    /// What stands there now.
    pub inserted: String,
}

impl Change {
    /// The smallest change that makes one text the other; none where they are the same.
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

    /// Makes it.
    pub fn apply(&self, text: &mut String) {
        let at = floor(text, self.at);
        let end = floor(text, at + self.removed.len());
        text.replace_range(at..end, &self.inserted);
    }

    /// What takes it back.
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self { at: self.at, removed: self.inserted.clone(), inserted: self.removed.clone() }
    }

    /// Where something is afterwards.
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

/// Changes, each of what the one before it left, and what is selected after them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    /// In the order in which they are made.
    pub changes: Vec<Change>,
    /// Afterwards.
    pub selection: Selection,
}

impl Edit {
    /// Makes all of them.
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
