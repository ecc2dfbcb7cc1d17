//! Search/replace blocks: a text that occurs exactly once in the file, and its replacement.

use serde::{Deserialize, Serialize};

use super::problem::{EditProblem, EditProblemKind, ReplyProblem};

/// One edit; both texts are whole lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// The file, if the reply names one.
    pub file: Option<String>,
    /// The text to replace.
    pub search: String,
    /// Its replacement.
    pub replace: String,
}

impl Edit {
    /// Whether it edits the same place, so that the later one counts.
    pub(super) fn is_same_place(&self, other: &Self) -> bool {
        self.file == other.file && self.search == other.search
    }
}

/// The kind of a line of a search/replace block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Search,
    Divider,
    Replace,
}

fn mark(line: &str) -> Option<Mark> {
    let line = line.trim();
    let sign = line.chars().next().filter(|first| matches!(first, '<' | '=' | '>'))?;
    let word = line.trim_start_matches(sign);
    let is_long = (5..=9).contains(&(line.len() - word.len()));
    match (sign, word.trim()) {
        ('<', "SEARCH") if is_long => Some(Mark::Search),
        ('=', "") if is_long => Some(Mark::Divider),
        ('>', "REPLACE") if is_long => Some(Mark::Replace),
        _ => None,
    }
}

/// The parser's state within an edit.
enum Reading {
    Outside,
    Search(String),
    Replace(String, String),
}

/// All search/replace blocks in a text.
pub(super) fn read(text: &str, file: Option<&str>) -> Result<Vec<Edit>, ReplyProblem> {
    let mut edits = Vec::new();
    let mut reading = Reading::Outside;
    for line in text.split_inclusive('\n') {
        reading = match (reading, mark(line)) {
            (Reading::Outside, Some(Mark::Search)) => Reading::Search(String::new()),
            (Reading::Outside, _) => Reading::Outside,
            (Reading::Search(search), Some(Mark::Divider)) => {
                Reading::Replace(search, String::new())
            }
            (Reading::Replace(search, replace), Some(Mark::Replace)) => {
                let file = file.map(str::to_owned);
                edits.push(Edit { file, search, replace });
                Reading::Outside
            }
            (Reading::Search(_), Some(Mark::Search | Mark::Replace))
            | (Reading::Replace(..), Some(Mark::Search)) => {
                return Err(ReplyProblem::UnfinishedEdit { number: edits.len() + 1 });
            }
            (Reading::Search(search), None) => Reading::Search(search + line),
            (Reading::Replace(search, replace), None | Some(Mark::Divider)) => {
                Reading::Replace(search, replace + line)
            }
        };
    }
    match reading {
        Reading::Outside => Ok(edits),
        Reading::Search(_) | Reading::Replace(..) => {
            Err(ReplyProblem::UnfinishedEdit { number: edits.len() + 1 })
        }
    }
}

/// Applies edits in order; line ends of the file are kept.
///
/// # Errors
/// The first edit that does not apply, with the nearest match.
pub fn apply<'e>(
    edits: impl IntoIterator<Item = &'e Edit>,
    text: &str,
) -> Result<String, EditProblem> {
    let has_returns = text.contains("\r\n");
    let mut edited = text.replace("\r\n", "\n");
    for (index, edit) in edits.into_iter().enumerate() {
        let problem = |trouble| EditProblem { number: index + 1, trouble };
        edited = carried_out(edit, &edited).map_err(problem)?;
    }
    Ok(if has_returns { edited.replace('\n', "\r\n") } else { edited })
}

fn carried_out(edit: &Edit, text: &str) -> Result<String, EditProblemKind> {
    let search = edit.search.replace("\r\n", "\n");
    let replace = edit.replace.replace("\r\n", "\n");
    let wanted: Vec<&str> = search.lines().collect();
    if search.trim().is_empty() {
        return Err(EditProblemKind::NothingToSearch);
    }
    if search == replace {
        return Err(EditProblemKind::NothingToChange);
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let bare: Vec<&str> = lines.iter().map(|line| line.trim_end_matches('\n')).collect();
    let places: Vec<usize> = places(&bare, &wanted, |line, wanted| line == wanted);
    match places.as_slice() {
        [] => Err(missing(&bare, &wanted)),
        [place] => {
            let (before, rest) = lines.split_at(*place);
            let after = rest.get(wanted.len()..).unwrap_or_default();
            let mut new = replace;
            let is_joined = !new.is_empty() && !new.ends_with('\n') && !after.is_empty();
            if is_joined {
                new.push('\n');
            }
            Ok(before.concat() + &new + &after.concat())
        }
        several => {
            Err(EditProblemKind::Several { lines: several.iter().map(|place| place + 1).collect() })
        }
    }
}

/// Line indices at which `wanted` occurs, counted from 0.
fn places(lines: &[&str], wanted: &[&str], same: impl Fn(&str, &str) -> bool) -> Vec<usize> {
    let fits = |window: &[&str]| window.iter().zip(wanted).all(|(line, wanted)| same(line, wanted));
    let windows = lines.windows(wanted.len()).enumerate();
    windows.filter(|(_, window)| fits(window)).map(|(place, _)| place).take(MOST_PLACES).collect()
}

/// Maximum listed positions.
const MOST_PLACES: usize = 8;
/// Minimum similarity of two lines for a suggestion.
const LEAST_LIKENESS: f64 = 0.5;
/// Characters of a line that are compared and shown.
const LINE_CHARACTERS: usize = 160;

/// The text nearest to a missing one.
fn missing(lines: &[&str], wanted: &[&str]) -> EditProblemKind {
    let same_words =
        |line: &str, wanted: &str| line.split_whitespace().eq(wanted.split_whitespace());
    if let Some(place) = places(lines, wanted, same_words).first() {
        return EditProblemKind::OtherSpace { line: place + 1 };
    }
    let first = wanted.iter().copied().max_by_key(|line| line.trim().len()).unwrap_or_default();
    let first = short(first);
    let likeness = |line: &str| strsim::sorensen_dice(&short(line), &first);
    let scored = lines.iter().enumerate().map(|(index, line)| (likeness(line), index));
    let nearest =
        scored.max_by(|left, right| left.0.total_cmp(&right.0).then(right.1.cmp(&left.1)));
    let nearest = nearest.filter(|(likeness, _)| *likeness >= LEAST_LIKENESS);
    let nearest = nearest.and_then(|(_, index)| Some((index + 1, short(lines.get(index)?))));
    EditProblemKind::Missing { wanted: first, nearest }
}

fn short(line: &str) -> String {
    line.trim().chars().take(LINE_CHARACTERS).collect()
}
