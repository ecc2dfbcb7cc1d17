//! Incremental syntax highlighting.
//!
//! Each line has a parser state before it; after an edit, lines are parsed from the first changed one until a state is
//! unchanged. A long text is parsed in portions, so that opening it does not block the window.

use std::ops::Range;

use super::syntax::{Entry, Language, Span, read_line};

/// Source text and its tokens.
#[derive(Clone, Debug)]
pub struct Highlighter {
    language: Language,
    lines: Vec<Line>,
    /// Lines whose tokens may be outdated; lines after them depend on them.
    pending: Range<usize>,
}

#[derive(Clone, Debug)]
struct Line {
    text: String,
    spans: Vec<Span>,
    /// The parser state before this line.
    before: Option<Entry>,
}

/// A replacement of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The removed lines.
    pub old: Range<usize>,
    /// The inserted lines.
    pub new: Range<usize>,
}

impl Highlighter {
    /// An empty highlighter.
    #[must_use]
    pub const fn new(language: Language) -> Self {
        Self { language, lines: Vec::new(), pending: 0..0 }
    }

    /// Stores a text and returns the changed lines. Parsing happens in [`Self::read`].
    pub fn update(&mut self, text: &str) -> Replaced {
        let fresh: Vec<&str> = text.split('\n').collect();
        let same = |(old, new): &(&Line, &&str)| old.text == **new;
        let head = self.lines.iter().zip(&fresh).take_while(same).count();
        let most = self.lines.len().min(fresh.len()) - head;
        let backwards = self.lines.iter().rev().zip(fresh.iter().rev());
        let tail = backwards.take(most).take_while(same).count();
        let replaced =
            Replaced { old: head..self.lines.len() - tail, new: head..fresh.len() - tail };
        if !replaced.old.is_empty() || !replaced.new.is_empty() {
            self.replace(&replaced, &fresh[replaced.new.clone()]);
        }
        replaced
    }

    fn replace(&mut self, replaced: &Replaced, fresh: &[&str]) {
        let plain =
            |text: &&str| Line { text: (*text).to_owned(), spans: Vec::new(), before: None };
        self.lines.splice(replaced.old.clone(), fresh.iter().map(plain));
        let moved = |line: usize| {
            if line >= replaced.old.end {
                line - replaced.old.end + replaced.new.end
            } else {
                line.min(replaced.new.end)
            }
        };
        // The line after a removed one has a new state before it.
        let end = (replaced.new.end + 1).min(self.lines.len());
        self.pending = if self.pending.is_empty() {
            replaced.new.start..end
        } else {
            let old = moved(self.pending.start)..moved(self.pending.end);
            old.start.min(replaced.new.start)..old.end.max(end)
        };
    }

    /// Parses at most `most` lines; returns those whose tokens may have changed.
    pub fn read(&mut self, most: usize) -> Range<usize> {
        let start = self.pending.start.min(self.lines.len());
        let mut line = start;
        let Some(mut entry) = self.entry_before(line) else { return start..start };
        while line < self.lines.len() && line - start < most {
            let past = line >= self.pending.end;
            let current = &mut self.lines[line];
            if past && current.before.as_ref() == Some(&entry) {
                self.pending = 0..0;
                return start..line;
            }
            let (spans, after) = read_line(&entry, &current.text);
            current.spans = spans;
            current.before = Some(entry);
            entry = after;
            line += 1;
        }
        // The line at an interruption is always parsed again; lines after it are compared.
        self.pending =
            if line == self.lines.len() { 0..0 } else { line..self.pending.end.max(line + 1) };
        start..line
    }

    fn entry_before(&self, line: usize) -> Option<Entry> {
        if self.pending.is_empty() {
            return None;
        }
        if line == 0 {
            return Some(Entry::first(self.language));
        }
        let before = self.lines.get(line - 1)?;
        before.before.as_ref().map(|entry| read_line(entry, &before.text).1)
    }

    /// Whether all lines are parsed.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.pending.is_empty()
    }

    /// The number of lines; at least one once there was a text.
    #[must_use]
    pub fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// A line without its line end.
    #[must_use]
    pub fn text(&self, line: usize) -> &str {
        self.lines.get(line).map_or("", |line| &line.text)
    }

    /// The tokens of a line; empty if it is plain.
    #[must_use]
    pub fn spans(&self, line: usize) -> &[Span] {
        self.lines.get(line).map_or(&[], |line| &line.spans)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn from_scratch(text: &str) -> Highlighter {
        let mut highlighter = Highlighter::new(Language::Cuda);
        highlighter.update(text);
        highlighter.read(usize::MAX);
        highlighter
    }

    fn assert_same(one: &Highlighter, other: &Highlighter) {
        assert_eq!(one.line_count(), other.line_count());
        for line in 0..one.line_count() {
            assert_eq!(one.text(line), other.text(line), "line {line}");
            assert_eq!(one.spans(line), other.spans(line), "line {line}: {}", one.text(line));
        }
    }

    #[test]
    fn an_edit_reads_only_its_line() {
        let mut text = String::from("int a;\nint b;\nint c;\nint d;\n");
        let mut highlighter = from_scratch(&text);
        text = text.replace('b', "bee");
        assert_eq!(highlighter.update(&text), Replaced { old: 1..2, new: 1..2 });
        // The following line is parsed too and found unchanged.
        assert!(highlighter.read(usize::MAX).len() <= 2);
        assert!(highlighter.is_settled());
        assert_same(&highlighter, &from_scratch(&text));
    }

    #[test]
    fn an_opened_comment_reaches_to_its_end() {
        let mut text = String::from("int a;\nint b;\nint c; */\nint d;\n");
        let mut highlighter = from_scratch(&text);
        text.insert_str(0, "/* ");
        highlighter.update(&text);
        assert_eq!(highlighter.read(usize::MAX), 0..3);
        assert_same(&highlighter, &from_scratch(&text));
    }

    /// Text pieces that open and close multi-line constructs.
    fn piece() -> impl Strategy<Value = String> {
        prop::sample::select(vec![
            "\n",
            "/*",
            "*/",
            "/*@",
            "@*/",
            "\"",
            "//",
            "\\\n",
            "int x;\n",
            "R\"a(",
            ")a\"",
            "#",
            "float y = 1.0f;",
            "é",
            " ",
        ])
        .prop_map(str::to_owned)
    }

    #[derive(Clone, Debug)]
    struct Edit {
        at: prop::sample::Index,
        removed: usize,
        inserted: Vec<String>,
        portion: usize,
    }

    fn edit() -> impl Strategy<Value = Edit> {
        (
            any::<prop::sample::Index>(),
            0..12_usize,
            prop::collection::vec(piece(), 0..4),
            0..6_usize,
        )
            .prop_map(|(at, removed, inserted, portion)| Edit {
                at,
                removed,
                inserted,
                portion,
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]
        #[test]
        fn edits_end_where_a_fresh_start_would(
            start in prop::collection::vec(piece(), 0..30),
            edits in prop::collection::vec(edit(), 1..12),
        ) {
            let mut characters: Vec<char> = start.concat().chars().collect();
            let text = |characters: &[char]| characters.iter().collect::<String>();
            let mut highlighter = from_scratch(&text(&characters));
            for edit in edits {
                let at = edit.at.index(characters.len() + 1);
                let end = (at + edit.removed).min(characters.len());
                characters.splice(at..end, edit.inserted.concat().chars());
                highlighter.update(&text(&characters));
                // Often interrupted before it is complete.
                highlighter.read(edit.portion);
            }
            while !highlighter.is_settled() {
                highlighter.read(3);
            }
            assert_same(&highlighter, &from_scratch(&text(&characters)));
        }
    }
}
