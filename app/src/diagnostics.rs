//! Problems and compiler messages below the source lines they refer to.

use std::path::{Path, PathBuf};

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use lightbench_core::compile::diagnostics::{Diagnostic, Note, Place, Severity, SourcePlace};
use lightbench_core::display_text::{visible, visible_lines};
use lightbench_core::project::Problem;
use lightbench_core::project::includes::Refusal;
use lightbench_core::project::read::read_file;

use crate::report::Sources;

/// A message of the compiler or the assembler.
pub fn compiler_message(diagnostic: &Diagnostic, sources: &Sources<'_>) -> String {
    let level = match diagnostic.severity {
        Severity::Fatal | Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Remark | Severity::Note => Level::NOTE,
    };
    let message = visible_lines(&diagnostic.message);
    let mut title = level.primary_title(message.as_str());
    if let Some(code) = &diagnostic.code {
        title = title.id(code.as_str());
    }
    let group = Group::with_title(title);
    let notes: Vec<Message> = diagnostic.notes.iter().map(note).collect();
    let group = match &diagnostic.place {
        Place::Source(place) => placed(group, place, sources),
        Place::EndOfSource => end_of(group, sources),
        Place::Ptx { line } => {
            group.element(Level::NOTE.message(format!("line {line} of the generated PTX")))
        }
        Place::Nowhere => match sources.main() {
            Some(main) => group.element(Origin::path(visible(&main.path).into_owned())),
            None => group,
        },
    };
    let group = notes
        .iter()
        .fold(group, |group, note| group.element(Level::NOTE.message(note.text.as_str())));
    rendered(&[group])
}

/// An include that is refused.
pub fn include_refusal(refusal: &Refusal, sources: &Sources<'_>) -> String {
    let place = SourcePlace {
        file: refusal.place.file.clone(),
        line: refusal.place.line,
        column: Some(refusal.place.column),
        excerpt: None,
        foreign: false,
    };
    let reason = visible_lines(&refusal.reason.to_string());
    rendered(&[placed(
        Group::with_title(Level::ERROR.primary_title(reason.as_str())),
        &place,
        sources,
    )])
}

/// A fault or evidence with the word for its kind; notes follow the source line.
pub fn fault(
    (kind, message): (&str, &str),
    place: Option<&SourcePlace>,
    notes: &[String],
    sources: &Sources<'_>,
) -> String {
    let message = visible_lines(message);
    let group = Group::with_title(Level::ERROR.primary_title(message.as_str()).id(kind));
    let group = match place {
        Some(place) => placed(group, place, sources),
        None => group,
    };
    let notes: Vec<String> = notes.iter().map(|note| visible_lines(note)).collect();
    let group =
        notes.iter().fold(group, |group, note| group.element(Level::NOTE.message(note.as_str())));
    rendered(&[group])
}

/// A problem of a project.
pub fn project_problem(problem: &Problem, root: &Path) -> String {
    let title = if problem.field.is_empty() {
        problem.found.clone()
    } else {
        format!("{}: {}", problem.field, problem.found)
    };
    let path = root.join(&problem.file);
    // A problem without a text range is not quoted: its file may be anything.
    let has_text = problem.length > 0;
    let text = has_text.then(|| read_file(&path).ok()).flatten().unwrap_or_default();
    let shown = visible(&path.display().to_string()).into_owned();
    let expected = format!("expected {}", problem.expected);
    let group = Group::with_title(Level::ERROR.primary_title(title.as_str()));
    let group = match text.lines().nth(problem.line.saturating_sub(1)) {
        Some(line) => {
            let place = (problem.line, problem.column, problem.length);
            group.element(excerpt(line, place, shown, Some(expected)))
        }
        None => group
            .element(Origin::path(shown).line(problem.line).char_column(problem.column))
            .element(Level::NOTE.message(expected)),
    };
    let group = match &problem.help {
        Some(help) => group.element(Level::HELP.message(help.as_str())),
        None => group,
    };
    rendered(&[group])
}

/// The folder that the problems' files are relative to: the parent if the target is a file.
pub fn root_of(target: &Path, problems: &[Problem]) -> PathBuf {
    let is_there = |root: &Path| problems.iter().any(|problem| root.join(&problem.file).is_file());
    let mut folder = target;
    while !is_there(folder) {
        match folder.parent() {
            Some(parent) => folder = parent,
            None => return target.to_owned(),
        }
    }
    folder.to_owned()
}

struct Message {
    text: String,
}

fn note(note: &Note) -> Message {
    let place =
        note.place.as_ref().map(|place| format!(" ({}:{})", visible(&place.file), place.line));
    Message { text: visible_lines(&note.message) + &place.unwrap_or_default() }
}

/// Points to the last line of the kernel file, where something is missing.
fn end_of<'a>(group: Group<'a>, sources: &Sources<'_>) -> Group<'a> {
    let Some(main) = sources.main() else {
        return group.element(Level::NOTE.message("at the end of the file"));
    };
    let line = main.text.lines().count().max(1);
    group
        .element(Origin::path(visible(&main.path).into_owned()).line(line))
        .element(Level::NOTE.message("at the end of the file"))
}

/// Quotes texts that are available here; of others only what the compiler printed.
fn placed<'a>(group: Group<'a>, place: &SourcePlace, sources: &Sources<'_>) -> Group<'a> {
    let own = if place.foreign { None } else { sources.get(&place.file) };
    let line = own.and_then(|_| sources.line(&place.file, place.line)).map(str::to_owned);
    let line = line.or_else(|| place.excerpt.clone());
    let path = own.map_or(place.file.as_str(), |own| own.path.as_str());
    let path = visible(path).into_owned();
    let number = usize::try_from(place.line).unwrap_or(usize::MAX);
    let column = place.column.and_then(|column| usize::try_from(column).ok());
    match line {
        Some(line) => {
            let column = column.unwrap_or(1);
            let length = word_length(&line, column);
            group.element(excerpt(&line, (number, column, length), path, None))
        }
        None => {
            let origin = Origin::path(path).line(number);
            group.element(match column {
                Some(column) => origin.char_column(column),
                None => origin,
            })
        }
    }
}

/// The length of the word at `column`, in characters; at least one.
fn word_length(line: &str, column: usize) -> usize {
    let is_word = |character: &char| character.is_alphanumeric() || *character == '_';
    line.chars().skip(column.saturating_sub(1)).take_while(is_word).count().max(1)
}

/// One line with a marked range: line, column and length, the latter two in characters.
fn excerpt<'a>(
    line: &str,
    (number, column, length): (usize, usize, usize),
    path: String,
    label: Option<String>,
) -> Snippet<'a, Annotation<'a>> {
    // A tab counts as one character, so it is shown as one.
    let line = line.replace('\t', " ");
    let span = span(&line, column, length);
    let annotation = AnnotationKind::Primary.span(span);
    Snippet::source(visible(&line).into_owned())
        .line_start(number)
        .path(path)
        .annotation(annotation.label(label))
}

/// The bytes of a range of characters, cut at the end of the line.
fn span(line: &str, column: usize, length: usize) -> std::ops::Range<usize> {
    let byte = |character: usize| {
        line.char_indices().nth(character).map_or(line.len(), |(offset, _)| offset)
    };
    let start = byte(column.saturating_sub(1));
    start..byte(column.saturating_sub(1).saturating_add(length)).max(start)
}

fn rendered(groups: &[Group<'_>]) -> String {
    Renderer::styled().render(groups) + "\n"
}
