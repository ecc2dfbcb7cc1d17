//! Line editing: indentation, comments, new lines.

use std::ops::Range;

use super::change::{Change, Edit, Selection};
use super::line_index::LineIndex;

/// Width of an indentation step, in spaces.
pub const STEP: usize = 4;

/// Indents: at a cursor to the next stop, else every selected line.
#[must_use]
pub fn indent(text: &str, selection: Selection) -> Edit {
    let index = LineIndex::new(text);
    if selection.is_empty() {
        let (_, column) = index.place(text, selection.head);
        let spaces = " ".repeat(STEP - column % STEP);
        return insert(selection.head..selection.head, text, &spaces);
    }
    let lines = lines(&index, selection);
    each_line(&index, selection, lines, |range| {
        let blank = text[range.clone()].trim().is_empty();
        (!blank).then(|| Change {
            at: range.start,
            removed: String::new(),
            inserted: " ".repeat(STEP),
        })
    })
}

/// Outdents as far as there is white space.
#[must_use]
pub fn outdent(text: &str, selection: Selection) -> Edit {
    let index = LineIndex::new(text);
    let lines = lines(&index, selection);
    each_line(&index, selection, lines, |range| {
        let line = &text[range.clone()];
        let spaces = line.bytes().take(STEP).take_while(|byte| *byte == b' ').count();
        let width = if line.starts_with('\t') { 1 } else { spaces };
        let removed = line[..width].to_owned();
        (width > 0).then_some(Change { at: range.start, removed, inserted: String::new() })
    })
}

/// Comments lines, or uncomments them if all are comments.
#[must_use]
pub fn comment(text: &str, selection: Selection) -> Edit {
    let index = LineIndex::new(text);
    let lines = lines(&index, selection);
    let full: Vec<&str> = lines
        .clone()
        .map(|line| &text[index.line(line)])
        .filter(|line| !line.trim().is_empty())
        .collect();
    if !full.is_empty() && full.iter().all(|line| line.trim_start().starts_with("//")) {
        return each_line(&index, selection, lines, |range| uncommented(text, range));
    }
    let margin = common_margin(&full);
    each_line(&index, selection, lines, |range| {
        let blank = text[range.clone()].trim().is_empty();
        (!blank).then(|| Change {
            at: range.start + margin,
            removed: String::new(),
            inserted: "// ".to_owned(),
        })
    })
}

/// Inserts a line break with the indentation of the line, one step further after an opening bracket.
#[must_use]
pub fn new_line(text: &str, selection: Selection) -> Edit {
    let (start, end) = (selection.start(), selection.end());
    let index = LineIndex::new(text);
    let before = &text[index.start(index.line_of(start))..start];
    let mut inserted = format!("\n{}", margin(before));
    if before.trim_end().ends_with(['{', '(', '[']) {
        inserted.push_str(&" ".repeat(STEP));
    }
    insert(start..end, text, &inserted)
}

/// Outdents a closing bracket that begins its line to the indentation of its block.
#[must_use]
pub fn closed(text: &str, cursor: usize) -> Option<Edit> {
    let index = LineIndex::new(text);
    let start = index.start(index.line_of(cursor));
    let margin = text[start..cursor].strip_suffix(['}', ')', ']'])?;
    let alone = !margin.is_empty() && margin.trim_start_matches([' ', '\t']).is_empty();
    alone.then(|| outdent(text, Selection::at(cursor)))
}

/// Replaces the selection.
#[must_use]
pub fn insert(place: Range<usize>, text: &str, inserted: &str) -> Edit {
    let removed = text[place.clone()].to_owned();
    let selection = Selection::at(place.start + inserted.len());
    let change = Change { at: place.start, removed, inserted: inserted.to_owned() };
    Edit { changes: vec![change], selection }
}

fn uncommented(text: &str, range: Range<usize>) -> Option<Change> {
    let line = &text[range.clone()];
    let rest = line.trim_start();
    let at = range.start + line.len() - rest.len();
    let mark = if rest.starts_with("// ") { "// " } else { "//" };
    rest.starts_with(mark).then(|| Change { at, removed: mark.to_owned(), inserted: String::new() })
}

/// The leading white space of a line.
fn margin(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The common leading white space of lines, in bytes.
fn common_margin(lines: &[&str]) -> usize {
    let margins: Vec<&str> = lines.iter().map(|line| margin(line)).collect();
    let Some(first) = margins.first() else { return 0 };
    let shared = |other: &&str| {
        first.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
    };
    margins.iter().map(shared).min().unwrap_or(0)
}

/// The selected lines, without a last line of which only the start is reached.
#[must_use]
pub fn lines(index: &LineIndex, selection: Selection) -> Range<usize> {
    let (first, last) = (index.line_of(selection.start()), index.line_of(selection.end()));
    let only_reached = last > first && selection.end() == index.start(last);
    first..if only_reached { last } else { last + 1 }
}

/// A change per line, from the last to the first so that no change moves another.
fn each_line(
    index: &LineIndex,
    selection: Selection,
    lines: Range<usize>,
    change: impl Fn(Range<usize>) -> Option<Change>,
) -> Edit {
    let changes: Vec<Change> = lines.rev().filter_map(|line| change(index.line(line))).collect();
    let moved = |offset: usize, is_start: bool| {
        changes.iter().fold(offset, |at, change| {
            // A selection at the start of a line stays there.
            if is_start && at == change.at && change.removed.is_empty() {
                at
            } else {
                change.moved(at)
            }
        })
    };
    let backwards = selection.head < selection.anchor;
    let keeps_start = !selection.is_empty();
    let selection = Selection {
        anchor: moved(selection.anchor, keeps_start && !backwards),
        head: moved(selection.head, keeps_start && backwards),
    };
    Edit { changes, selection }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Parses `[` and `]` around a selection, `|` for a cursor.
    fn read(marked: &str) -> (String, Selection) {
        let text = marked.replace(['‹', '›', '|'], "");
        let at = |mark: char| marked.find(mark);
        let selection = match (at('|'), at('‹'), at('›')) {
            (Some(cursor), _, _) => Selection::at(cursor),
            (None, Some(start), Some(end)) => {
                Selection { anchor: start, head: end - '‹'.len_utf8() }
            }
            _ => Selection::default(),
        };
        (text, selection)
    }

    fn check(operation: fn(&str, Selection) -> Edit, before: &str, after: &str) {
        let (mut text, selection) = read(before);
        let edit = operation(&text, selection);
        edit.apply(&mut text);
        let expected = read(after);
        assert_eq!((text, edit.selection), expected, "{before}");
    }

    #[test]
    fn tab_goes_to_the_next_stop_or_moves_lines() {
        check(indent, "ab|c", "ab  |c");
        check(indent, "|", "    |");
        check(indent, "‹a\n\nb›\nc", "‹    a\n\n    b›\nc");
        check(indent, "‹a\n›b", "‹    a\n›b");
        check(indent, "a‹b›", "    a‹b›");
    }

    #[test]
    fn shift_tab_takes_away_what_is_there() {
        check(outdent, "      a|", "  a|");
        check(outdent, "  a|", "a|");
        check(outdent, "a|", "a|");
        check(outdent, "‹\ta\n     b›", "‹a\n b›");
    }

    #[test]
    fn comments_stand_in_one_column() {
        check(comment, "    a|", "    // a|");
        check(comment, "‹  a\n    b›", "‹  // a\n  //   b›");
        check(comment, "‹  // a\n  //b›", "‹  a\n  b›");
        check(comment, "‹// a\n\nb›", "‹// // a\n\n// b›");
    }

    #[test]
    fn a_new_line_begins_where_the_last_one_does() {
        check(new_line, "    a;|", "    a;\n    |");
        check(new_line, "  if (x) {|", "  if (x) {\n      |");
        check(new_line, "a ‹b› c", "a \n| c");
        check(new_line, "  |  a", "  \n  |  a");
    }

    #[test]
    fn a_closing_bracket_goes_back_to_where_its_block_began() {
        let check = |before: &str, after: Option<&str>| {
            let (mut text, selection) = read(before);
            let edit = closed(&text, selection.head);
            let result = edit.map(|edit| {
                edit.apply(&mut text);
                (text, edit.selection)
            });
            assert_eq!(result, after.map(read), "{before}");
        };
        check("{\n    }|", Some("{\n}|"));
        check("\t\t}|", Some("\t}|"));
        check("a }|", None);
        check("}|", None);
        check("    a|", None);
    }

    fn text() -> impl Strategy<Value = String> {
        prop::collection::vec("[ \t]{0,5}(a|/|//|b c|\\{|é){0,2}", 0..6)
            .prop_map(|lines| lines.join("\n"))
    }

    proptest! {
        #[test]
        fn a_comment_twice_is_none(text in text()) {
            let all = Selection { anchor: 0, head: text.len() };
            let is_code = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
            prop_assume!(text.lines().any(is_code));
            let mut edited = text.clone();
            let once = comment(&edited, all);
            once.apply(&mut edited);
            comment(&edited, once.selection).apply(&mut edited);
            prop_assert_eq!(edited, text);
        }

        #[test]
        fn in_and_out_again_is_nothing(text in text()) {
            // Blank lines are not indented but would be outdented; outdenting removes a tab as a whole.
            let lines: Vec<&str> = text.split('\n').filter(|line| !line.trim().is_empty()).collect();
            let text = lines.join("\n").replace('\t', " ");
            prop_assume!(!text.is_empty());
            let all = Selection { anchor: 0, head: text.len() };
            let mut edited = text.clone();
            let once = indent(&edited, all);
            once.apply(&mut edited);
            outdent(&edited, once.selection).apply(&mut edited);
            prop_assert_eq!(edited, text);
        }

        #[test]
        fn whatever_is_selected_stays_within_the_text(
            text in text(), from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>(),
        ) {
            let boundary = |index: prop::sample::Index| {
                super::super::change::floor(&text, index.index(text.len() + 1))
            };
            let selection = Selection { anchor: boundary(from), head: boundary(to) };
            for operation in [indent, outdent, comment, new_line] {
                let mut edited = text.clone();
                let edit = operation(&edited, selection);
                edit.apply(&mut edited);
                prop_assert_eq!(edit.selection, edit.selection.within(&edited));
            }
        }
    }
}
