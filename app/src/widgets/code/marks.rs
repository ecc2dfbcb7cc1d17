//! Marks of a text: problems, heat and locked lines. They move with the text while it is edited.

use std::ops::Range;

use super::change::Change;
use super::completion::Word;
use super::line_index::LineIndex;

/// Severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Note,
    /// Warnings.
    Warning,
    Error,
}

/// A problem at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// From 1.
    pub line: usize,
    /// Characters from 1; `None` for the whole line.
    pub columns: Option<Range<usize>>,
    pub severity: Severity,
    /// One or more sentences.
    pub message: String,
}

/// The heat of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// From 1.
    pub line: usize,
    /// From 0 to 1.
    pub value: f32,
    /// The counted amount, as text.
    pub text: String,
}

/// A revision of a text: the number of changes that an editor has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Revision(pub u64);

/// The marks that the caller supplies.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// Identifies the marks: they are adopted when it changes.
    pub generation: u64,
    /// The revision that they refer to (`CodeEditor::revision` when the text was saved or compiled).
    pub made_at: Revision,
    /// Problems from the compiler and the checker.
    pub problems: Vec<Problem>,
    /// At most one per line.
    pub heat: Vec<Heat>,
    /// Lines, from 1, with machine code.
    pub linked: Vec<usize>,
    /// The line, from 1, whose machine code is selected in another panel.
    pub marked: Option<usize>,
    /// Names for completion, in addition to CUDA's.
    pub words: Vec<Word>,
}

/// An item at a line, from 0, that moves with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tracked<T> {
    /// Its present line.
    pub line: usize,
    /// Whether the line is unchanged.
    pub age: Age,
    pub item: T,
}

/// Whether a mark still applies to the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    Fresh,
    /// Its line has been edited since.
    Stale,
}

/// The effect of an edit on lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineShift {
    first: usize,
    removed: usize,
    inserted: usize,
    reach: Reach,
}

/// Which of the first and last lines of an edit changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Lines,
    /// None: whole lines were inserted before the first.
    Above,
    /// Not the first: whole lines were inserted after it.
    Below,
}

impl LineShift {
    /// The effect of a change on the text described by `index`.
    #[must_use]
    pub fn from_change(change: &Change, index: &LineIndex) -> Self {
        let first = index.line_of(change.at);
        let line = index.line(first);
        let ends = |text: &str| text.bytes().filter(|byte| *byte == b'\n').count();
        let (removed, inserted) = (ends(&change.removed), ends(&change.inserted));
        let whole = |text: &str| text.is_empty() || text.ends_with('\n');
        let reach =
            if change.at == line.start && change.removed.is_empty() && whole(&change.inserted) {
                Reach::Above
            } else if change.at == line.end
                && [&change.removed, &change.inserted]
                    .iter()
                    .all(|text| text.is_empty() || text.starts_with('\n'))
            {
                Reach::Below
            } else {
                Reach::Lines
            };
        Self { first, removed, inserted, reach }
    }

    /// The line's new number, and whether it is unchanged.
    #[must_use]
    pub fn moved(self, line: usize) -> (usize, Age) {
        let last = self.first + self.removed;
        if line < self.first {
            return (line, Age::Fresh);
        }
        if line > last {
            return (line - self.removed + self.inserted, Age::Fresh);
        }
        match self.reach {
            Reach::Above => (line + self.inserted, Age::Fresh),
            Reach::Below if line == self.first => (line, Age::Fresh),
            Reach::Below | Reach::Lines => (line.min(self.first + self.inserted), Age::Stale),
        }
    }

    /// Moves a mark.
    pub fn carry<T>(self, tracked: &mut Tracked<T>) {
        let (line, age) = self.moved(tracked.line);
        tracked.line = line;
        if age == Age::Stale {
            tracked.age = age;
        }
    }

    /// The new range of locked lines.
    #[must_use]
    pub fn moved_range(self, lines: &Range<usize>) -> Range<usize> {
        let start = self.moved(lines.start).0;
        let last = self.moved(lines.end.saturating_sub(1)).0;
        start..(last + 1).max(start)
    }
}

/// All marks of a text at their present lines.
#[derive(Clone, Debug, Default)]
pub struct Tracker {
    pub problems: Vec<Tracked<Problem>>,
    pub heat: Vec<Tracked<Heat>>,
    /// Lines with machine code; the item is the line number when it was compiled, from 1.
    pub linked: Vec<Tracked<usize>>,
    /// Lines that must not be edited.
    pub locked: Vec<Range<usize>>,
    generation: Option<u64>,
    revision: Revision,
    shifts: Vec<LineShift>,
    /// The revision before the first of `shifts`.
    base: u64,
}

/// Number of edits kept for marks that arrive late.
const REMEMBERED: usize = 20_000;

impl Tracker {
    /// The present revision.
    #[must_use]
    pub const fn revision(&self) -> Revision {
        self.revision
    }

    /// Applies a change of the text described by `index`.
    pub fn follow(&mut self, change: &Change, index: &LineIndex) {
        let shift = LineShift::from_change(change, index);
        self.problems.iter_mut().for_each(|each| shift.carry(each));
        self.heat.iter_mut().for_each(|each| shift.carry(each));
        self.linked.iter_mut().for_each(|each| shift.carry(each));
        for lines in &mut self.locked {
            *lines = shift.moved_range(lines);
        }
        self.revision.0 += 1;
        self.shifts.push(shift);
        if self.shifts.len() > REMEMBERED {
            let surplus = self.shifts.len() - REMEMBERED / 2;
            self.shifts.drain(..surplus);
            self.base += surplus as u64;
        }
    }

    /// Adopts new marks, moved to the present positions of their lines.
    pub fn adopt(&mut self, marks: &Marks) {
        if self.generation == Some(marks.generation) {
            return;
        }
        self.generation = Some(marks.generation);
        let made_at = marks.made_at.0;
        let age = if made_at < self.base { Age::Stale } else { Age::Fresh };
        let since = usize::try_from(made_at.saturating_sub(self.base)).unwrap_or(usize::MAX);
        let shifts: Vec<LineShift> = self.shifts.iter().skip(since).copied().collect();
        self.problems = placed(&marks.problems, |each| each.line, age, &shifts);
        self.heat = placed(&marks.heat, |each| each.line, age, &shifts);
        self.linked = placed(&marks.linked, |line| *line, age, &shifts);
    }

    /// Whether an edit that removes `removed` and inserts text there is allowed.
    #[must_use]
    pub fn allows(&self, index: &LineIndex, removed: Range<usize>) -> bool {
        self.locked.iter().filter(|lines| !lines.is_empty()).all(|lines| {
            let start = index.start(lines.start);
            let end = index.line(lines.end - 1).end;
            if removed.is_empty() {
                removed.start < start || removed.start > end
            } else {
                // The line ends around locked lines must stay, too.
                removed.end < start || removed.start > end
            }
        })
    }
}

fn placed<T: Clone>(
    items: &[T],
    line: impl Fn(&T) -> usize,
    age: Age,
    shifts: &[LineShift],
) -> Vec<Tracked<T>> {
    let place = |item: &T| {
        let line = line(item).saturating_sub(1);
        let mut tracked = Tracked { line, age, item: item.clone() };
        shifts.iter().for_each(|shift| shift.carry(&mut tracked));
        tracked
    };
    items.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "one\ntwo\nthree\n";

    fn change(at: usize, removed: &str, inserted: &str) -> Change {
        Change { at, removed: removed.to_owned(), inserted: inserted.to_owned() }
    }

    #[test]
    fn a_mark_follows_its_line() {
        let check = |change: Change, line: usize, age: Age| {
            let shift = LineShift::from_change(&change, &LineIndex::new(TEXT));
            assert_eq!(shift.moved(1), (line, age), "{change:?}");
        };
        check(change(0, "", "new\n"), 2, Age::Fresh);
        check(change(4, "", "new\n"), 2, Age::Fresh);
        check(change(3, "", "\nnew"), 2, Age::Fresh);
        check(change(7, "", "\nnew"), 1, Age::Fresh);
        check(change(8, "", "new\n"), 1, Age::Fresh);
        check(change(5, "", "x"), 1, Age::Stale);
        check(change(5, "", "\n"), 1, Age::Stale);
        check(change(0, "one\n", ""), 0, Age::Stale);
        check(change(8, "three\n", ""), 1, Age::Fresh);
    }

    fn problem(line: usize) -> Problem {
        let message = "no such name".to_owned();
        Problem { line, columns: None, severity: Severity::Error, message }
    }

    #[test]
    fn marks_that_come_late_are_moved_to_where_their_lines_are() {
        let mut tracker = Tracker::default();
        let made_at = tracker.revision();
        tracker.follow(&change(0, "", "zero\n"), &LineIndex::new(TEXT));
        let marks =
            Marks { generation: 1, made_at, problems: vec![problem(2)], ..Marks::default() };
        tracker.adopt(&marks);
        assert_eq!((tracker.problems[0].line, tracker.problems[0].age), (2, Age::Fresh));
        let text = format!("zero\n{TEXT}");
        tracker.follow(&change(10, "w", "W"), &LineIndex::new(&text));
        // Adopting the same marks again changes nothing.
        tracker.adopt(&marks);
        assert_eq!((tracker.problems[0].line, tracker.problems[0].age), (2, Age::Stale));
    }

    #[test]
    fn locked_lines_are_left_alone() {
        let tracker = Tracker { locked: std::iter::once(1..2).collect(), ..Tracker::default() };
        let index = LineIndex::new(TEXT);
        let check = |removed: Range<usize>, expected: bool| {
            assert_eq!(tracker.allows(&index, removed.clone()), expected, "{removed:?}");
        };
        check(0..0, true);
        check(3..3, true);
        check(4..4, false);
        check(7..7, false);
        check(8..8, true);
        check(2..3, true);
        check(3..4, false);
        check(7..8, false);
        check(8..9, true);
        check(0..14, false);
    }
}
