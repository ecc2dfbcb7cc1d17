//! Differences between two texts, by line and by word.

mod normalise;
mod view;
mod words;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

pub use view::DiffView;

/// A row of the side-by-side diff. Lines count from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffRow {
    /// Equal lines; in machine code, equal except for registers and addresses.
    Same {
        /// Line of the old text.
        old: usize,
        /// Line of the new text.
        new: usize,
    },
    /// A changed line.
    Changed {
        /// Line of the old text.
        old: usize,
        /// Line of the new text.
        new: usize,
        /// Removed bytes of the old line; empty if the whole line changed.
        gone: Vec<Range<usize>>,
        /// Inserted bytes of the new line.
        came: Vec<Range<usize>>,
    },
    /// A removed line.
    Removed {
        /// Its line number.
        old: usize,
    },
    /// An added line.
    Added {
        /// Its line number.
        new: usize,
    },
}

/// A visible item: a row, or a fold of equal rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    Row(usize),
    /// A fold of `count` rows from `first` on.
    Fold {
        first: usize,
        count: usize,
    },
}

/// Two texts and their differences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    old: Vec<String>,
    new: Vec<String>,
    rows: Vec<DiffRow>,
    changes: Vec<Range<usize>>,
    fingerprint: u64,
}

impl Diff {
    /// The diff of two texts.
    #[must_use]
    pub fn from_texts(old: &str, new: &str) -> Self {
        Self::from_lines(old, new, str::to_owned)
    }

    /// The diff of machine code, regardless of registers, predicates, labels and addresses.
    #[must_use]
    pub fn from_sass(old: &str, new: &str) -> Self {
        Self::from_lines(old, new, normalise::instruction)
    }

    fn from_lines(old: &str, new: &str, key: impl Fn(&str) -> String) -> Self {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<String>>();
        let keys = |lines: &[String]| lines.iter().map(|line| key(line)).collect::<Vec<String>>();
        let (old, new) = (lines(old), lines(new));
        let operations = capture_diff_slices(Algorithm::Histogram, &keys(&old), &keys(&new));
        let mut hasher = DefaultHasher::new();
        (&old, &new).hash(&mut hasher);
        let fingerprint = hasher.finish();
        let mut diff = Self { old, new, fingerprint, ..Self::default() };
        for operation in operations {
            diff.push(operation);
        }
        diff.changes = changes(&diff.rows);
        diff
    }

    fn push(&mut self, operation: DiffOp) {
        match operation {
            DiffOp::Equal { old_index, new_index, len } => {
                let same =
                    |number| DiffRow::Same { old: old_index + number, new: new_index + number };
                self.rows.extend((0..len).map(same));
            }
            DiffOp::Delete { old_index, old_len, .. } => {
                self.rows
                    .extend((old_index..old_index + old_len).map(|old| DiffRow::Removed { old }));
            }
            DiffOp::Insert { new_index, new_len, .. } => {
                self.rows
                    .extend((new_index..new_index + new_len).map(|new| DiffRow::Added { new }));
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                let both = old_len.min(new_len);
                for number in 0..both {
                    let (old, new) = (old_index + number, new_index + number);
                    let (gone, came) = words::changed(&self.old[old], &self.new[new]);
                    self.rows.push(DiffRow::Changed { old, new, gone, came });
                }
                let (old, new) =
                    (old_index + both..old_index + old_len, new_index + both..new_index + new_len);
                self.rows.extend(old.map(|old| DiffRow::Removed { old }));
                self.rows.extend(new.map(|new| DiffRow::Added { new }));
            }
        }
    }

    /// All rows.
    #[must_use]
    pub fn rows(&self) -> &[DiffRow] {
        &self.rows
    }

    /// Ranges of rows that differ.
    #[must_use]
    pub fn changes(&self) -> &[Range<usize>] {
        &self.changes
    }

    /// Identifies the pair of texts.
    #[must_use]
    pub const fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// A line of the old text, from 0.
    #[must_use]
    pub fn old_line(&self, line: usize) -> &str {
        self.old.get(line).map_or("", String::as_str)
    }

    /// A line of the new text, from 0.
    #[must_use]
    pub fn new_line(&self, line: usize) -> &str {
        self.new.get(line).map_or("", String::as_str)
    }

    /// The numbers of lines of both texts.
    #[must_use]
    pub const fn line_counts(&self) -> (usize, usize) {
        (self.old.len(), self.new.len())
    }

    /// The visible items: equal rows further than `context` rows from a change are folded. `is_open` tells which folds
    /// are open, by their first row.
    #[must_use]
    pub fn items(&self, context: usize, is_open: impl Fn(usize) -> bool) -> Vec<Item> {
        let mut items = Vec::new();
        let mut from = 0;
        let ends = self.changes.iter().cloned().map(Some).chain([None]);
        for change in ends {
            let to = change.as_ref().map_or(self.rows.len(), |change| change.start);
            let before = if from == 0 { 0 } else { context };
            let after = if change.is_some() { context } else { 0 };
            let hidden = (from + before).min(to)..to.saturating_sub(after).max(from);
            // A fold occupies a row, so folding a single row is useless.
            if hidden.len() > 1 && !is_open(hidden.start) {
                items.extend((from..hidden.start).map(Item::Row));
                items.push(Item::Fold { first: hidden.start, count: hidden.len() });
                items.extend((hidden.end..to).map(Item::Row));
            } else {
                items.extend((from..to).map(Item::Row));
            }
            if let Some(change) = change {
                items.extend(change.clone().map(Item::Row));
                from = change.end;
            }
        }
        items
    }
}

fn changes(rows: &[DiffRow]) -> Vec<Range<usize>> {
    let mut changes: Vec<Range<usize>> = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        if matches!(row, DiffRow::Same { .. }) {
            continue;
        }
        match changes.last_mut() {
            Some(last) if last.end == number => last.end += 1,
            Some(_) | None => changes.push(number..number + 1),
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The rows in a compact notation.
    fn noted(diff: &Diff) -> Vec<String> {
        let note = |row: &DiffRow| match row {
            DiffRow::Same { old, new } => format!("{old}={new}"),
            DiffRow::Changed { old, new, gone, came } => {
                let parts = |line: &str, parts: &[Range<usize>]| {
                    parts.iter().map(|part| &line[part.clone()]).collect::<Vec<_>>().join("|")
                };
                let gone = parts(diff.old_line(*old), gone);
                format!("{old}~{new} {gone} > {}", parts(diff.new_line(*new), came))
            }
            DiffRow::Removed { old } => format!("-{old}"),
            DiffRow::Added { new } => format!("+{new}"),
        };
        diff.rows().iter().map(note).collect()
    }

    #[test]
    fn lines_and_words_are_compared() {
        let check = |old: &str, new: &str, expected: &[&str]| {
            assert_eq!(noted(&Diff::from_texts(old, new)), expected, "{old} -> {new}");
        };
        check("a\nb\n", "a\nb\n", &["0=0", "1=1"]);
        check("a\nb", "a\nx\nb", &["0=0", "+1", "1=2"]);
        check("a\nb", "b", &["-0", "1=0"]);
        check("a\nint x = 1;\nb", "a\nint x = 2;\nb", &["0=0", "1~1 1 > 2", "2=2"]);
        check("a\nx y\nb", "a\nq\nr\nb", &["0=0", "1~1  > ", "+2", "2=3"]);
        check("", "a", &["+0"]);
    }

    #[test]
    fn machine_code_is_compared_without_names() {
        let old = "/*0000*/ MOV R1, c[0x0][0x28] ;\n/*0010*/ @P0 BRA `(.L_x_1) ;\n/*0020*/ FADD R2, R3, R4 ;";
        let new = "/*0000*/ MOV R9, c[0x0][0x28] ;\n/*0010*/ NOP ;\n/*0020*/ @P3 BRA `(.L_x_7) ;\n/*0030*/ FMUL R2, R3, R4 ;";
        let diff = Diff::from_sass(old, new);
        let rows = noted(&diff);
        assert_eq!(rows[..3], ["0=0", "+1", "1=2"]);
        assert!(rows[3].starts_with("2~3"), "{rows:?}");
        assert!(diff.new_line(0).contains("R9"), "real text is kept");
    }

    #[test]
    fn what_is_the_same_is_folded() {
        let old: Vec<String> = (0..40).map(|line| line.to_string()).collect();
        let mut new = old.clone();
        new[20] = "x".to_owned();
        let diff = Diff::from_texts(&old.join("\n"), &new.join("\n"));
        let items = diff.items(3, |_| false);
        assert_eq!(items[0], Item::Fold { first: 0, count: 17 });
        assert_eq!(items[1..8], (17..24).map(Item::Row).collect::<Vec<_>>());
        assert_eq!(items[8..], [Item::Fold { first: 24, count: 16 }]);
        assert_eq!(diff.items(3, |first| first == 0).len(), 25);
        assert_eq!(diff.items(100, |_| false).len(), 40);
    }

    proptest! {
        #[test]
        fn every_line_stands_there_once(old in "[ab\n]{0,20}", new in "[ab\n]{0,20}", context in 0..3_usize) {
            let diff = Diff::from_texts(&old, &new);
            let (mut left, mut right) = (Vec::new(), Vec::new());
            for row in diff.rows() {
                match row {
                    DiffRow::Same { old, new } | DiffRow::Changed { old, new, .. } => {
                        left.push(*old);
                        right.push(*new);
                    }
                    DiffRow::Removed { old } => left.push(*old),
                    DiffRow::Added { new } => right.push(*new),
                }
            }
            let (old_count, new_count) = diff.line_counts();
            prop_assert_eq!(left, (0..old_count).collect::<Vec<_>>());
            prop_assert_eq!(right, (0..new_count).collect::<Vec<_>>());
            let shown: usize = diff.items(context, |_| false).iter().map(|item| match item {
                Item::Row(_) => 1,
                Item::Fold { count, .. } => *count,
            }).sum();
            prop_assert_eq!(shown, diff.rows().len());
        }
    }
}
