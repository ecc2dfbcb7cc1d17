//! Problems and compiler messages below the source line that they are about.

use std::fs;
use std::path::{Path, PathBuf};

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use lightbench_core::compile::diagnostics::{Diagnostic, Note, Place, Severity, SourcePlace};
use lightbench_core::compile::includes::Refusal;
use lightbench_core::display_text::visible;
use lightbench_core::project::Problem;

use crate::report::Sources;

/// A message of the compiler or the assembler.
pub fn of_compiler(diagnostic: &Diagnostic, sources: &Sources<'_>) -> String {
    let level = match diagnostic.severity {
        Severity::Fatal | Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Remark | Severity::Note => Level::NOTE,
    };
    let message = shown_lines(&diagnostic.message);
    let mut title = level.primary_title(message.as_str());
    if let Some(code) = &diagnostic.code {
        title = title.id(code.as_str());
    }
    let group = Group::with_title(title);
    let notes: Vec<Message> = diagnostic.notes.iter().map(note).collect();
    let group = match &diagnostic.place {
        Place::Source(place) => placed(group, place, sources),
        Place::EndOfSource => group.element(Level::NOTE.message("at the end of the file")),
        Place::Ptx { line } => {
            group.element(Level::NOTE.message(format!("line {line} of the generated PTX")))
        }
        Place::Nowhere => group,
    };
    let group = notes
        .iter()
        .fold(group, |group, note| group.element(Level::NOTE.message(note.text.as_str())));
    rendered(&[group])
}

/// An include that must not be compiled.
pub fn of_refusal(refusal: &Refusal, sources: &Sources<'_>) -> String {
    let place = SourcePlace {
        file: refusal.place.file.clone(),
        line: refusal.place.line,
        column: Some(refusal.place.column),
        excerpt: None,
        foreign: false,
    };
    let reason = shown_lines(&refusal.reason.to_string());
    rendered(&[placed(
        Group::with_title(Level::ERROR.primary_title(reason.as_str())),
        &place,
        sources,
    )])
}

/// Something wrong with a project.
pub fn of_problem(problem: &Problem, root: &Path) -> String {
    let title = if problem.field.is_empty() {
        problem.found.clone()
    } else {
        format!("{}: {}", problem.field, problem.found)
    };
    let path = root.join(&problem.file).display().to_string();
    let text = fs::read_to_string(root.join(&problem.file)).unwrap_or_default();
    let expected = format!("expected {}", problem.expected);
    let group = Group::with_title(Level::ERROR.primary_title(title.as_str()));
    let line = text.lines().nth(problem.line.saturating_sub(1)).map(visible);
    let place = visible(&path);
    let group = match &line {
        Some(line) => group.element(excerpt(
            line,
            problem.line,
            problem.column,
            problem.length,
            &place,
            &expected,
        )),
        None => group
            .element(Origin::path(place.as_ref()).line(problem.line).char_column(problem.column))
            .element(Level::NOTE.message(expected.as_str())),
    };
    let group = match &problem.help {
        Some(help) => group.element(Level::HELP.message(help.as_str())),
        None => group,
    };
    rendered(&[group])
}

/// The folder that the problems' files are relative to: that of the file, if the target is one.
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
    Message { text: shown_lines(&note.message) + &place.unwrap_or_default() }
}

fn placed<'a>(group: Group<'a>, place: &'a SourcePlace, sources: &Sources<'_>) -> Group<'a> {
    let text = sources.get(&place.file).filter(|_| !place.foreign);
    let number = usize::try_from(place.line).unwrap_or(usize::MAX);
    let line = text
        .and_then(|text| text.lines().nth(number.saturating_sub(1)))
        .map(str::to_owned)
        .or_else(|| place.excerpt.clone());
    let column = place.column.and_then(|column| usize::try_from(column).ok());
    let file = visible(&place.file).into_owned();
    match line {
        Some(line) => {
            let length = word_length(&line, column.unwrap_or(1));
            let line = visible(&line).into_owned();
            group.element(excerpt_owned(line, number, column.unwrap_or(1), length, file))
        }
        None => {
            let origin = Origin::path(file).line(number);
            group.element(match column {
                Some(column) => origin.char_column(column),
                None => origin,
            })
        }
    }
}

/// The characters of the word that begins at `column`; at least one.
fn word_length(line: &str, column: usize) -> usize {
    let is_word = |character: &char| character.is_alphanumeric() || *character == '_';
    line.chars().skip(column.saturating_sub(1)).take_while(is_word).count().max(1)
}

fn excerpt<'a>(
    line: &'a str,
    number: usize,
    column: usize,
    length: usize,
    path: &'a str,
    label: &'a str,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let span = span(line, column, length);
    Snippet::source(line)
        .line_start(number)
        .path(path)
        .annotation(AnnotationKind::Primary.span(span).label(label))
}

fn excerpt_owned<'a>(
    line: String,
    number: usize,
    column: usize,
    length: usize,
    path: String,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let span = span(&line, column, length);
    Snippet::source(line)
        .line_start(number)
        .path(path)
        .annotation(AnnotationKind::Primary.span(span))
}

/// The bytes of a stretch of characters, cut off at the end of the line.
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

fn shown_lines(text: &str) -> String {
    text.lines().map(visible).collect::<Vec<_>>().join("\n")
}
