//! Assembles the lines of a log into diagnostics: header, source line, caret and instantiation contexts.

use super::header::Header;
use super::{Diagnostic, Log, Note, Place, Severity, SourcePlace};

/// How far the compiler indents the source lines that it prints.
const INDENT: usize = 2;

#[derive(Default)]
pub(super) struct Reader {
    log: Log,
    /// A diagnostic is open: indented lines belong to it.
    open: bool,
    /// The open part is the last note of the diagnostic rather than itself.
    in_note: bool,
    /// Inside a list of instantiation contexts.
    in_contexts: bool,
    /// Indented lines since the header, before a caret.
    pending: Vec<String>,
}

impl Reader {
    pub(super) fn header(&mut self, header: Header<'_>) {
        self.flush();
        let Header { place, severity, code, message } = header;
        if severity == Severity::Note
            && self.open
            && let Some(last) = self.log.diagnostics.last_mut()
        {
            let place = match place {
                Place::Source(place) => Some(place),
                Place::EndOfSource | Place::Ptx { .. } | Place::Nowhere => None,
            };
            last.notes.push(Note { place, message: message.to_owned() });
            self.in_note = true;
            return;
        }
        // The assembler's messages are one line each.
        self.open = matches!(place, Place::Source(_) | Place::EndOfSource);
        self.in_note = false;
        let (code, message) = (code.map(str::to_owned), message.to_owned());
        let diagnostic = Diagnostic { place, severity, code, message, notes: Vec::new() };
        self.log.diagnostics.push(diagnostic);
    }

    pub(super) fn plain(&mut self, line: &str, sources: &[&str]) {
        if line.trim().is_empty() {
            self.close();
        } else if line.starts_with("ptxas ") || is_assembler_continuation(line) {
            self.close();
            keep(&mut self.log.resources, line);
        } else if is_summary(line) {
            self.close();
        } else if self.open && line.starts_with(' ') {
            self.indented(line, sources);
        } else {
            self.close();
            keep(&mut self.log.other, line);
        }
    }

    pub(super) fn finish(mut self) -> Log {
        self.flush();
        self.log
    }

    fn close(&mut self) {
        self.flush();
        self.open = false;
    }

    fn indented(&mut self, line: &str, sources: &[&str]) {
        let trimmed = line.trim();
        if trimmed == "^"
            && let Some(echoed) = self.pending.pop()
        {
            if !self.excerpt(caret_column(line, &echoed), &echoed) {
                // There is no location without an excerpt: the line is ordinary text.
                self.pending.push(echoed);
            }
            self.flush();
            return;
        }
        if self.in_contexts {
            self.context(trimmed, sources);
        } else if let Some(rest) = trimmed.strip_prefix("detected during") {
            self.flush();
            self.in_contexts = true;
            if rest != ":" {
                self.context(rest.trim_start(), sources);
            }
        } else {
            self.pending.push(line.to_owned());
        }
    }

    /// `instantiation of "…" at line 3 of y.cuh`; without a file it is the diagnostic's own.
    fn context(&mut self, text: &str, sources: &[&str]) {
        let Some(last) = self.log.diagnostics.last_mut() else { return };
        let own = match &last.place {
            Place::Source(place) => Some(place.file.as_str()),
            Place::EndOfSource | Place::Ptx { .. } | Place::Nowhere => None,
        };
        let (message, place) = match split_context(text, own) {
            Some((message, file, line)) => (message, Some(SourcePlace::new(file, line, sources))),
            None => (text, None),
        };
        last.notes.push(Note { place, message: message.to_owned() });
    }

    /// Whether the open part has a place that no excerpt shows yet.
    fn excerpt(&mut self, column: Option<u32>, echoed: &str) -> bool {
        let in_note = self.in_note;
        let Some(last) = self.log.diagnostics.last_mut() else { return false };
        let place = match (in_note, &mut last.place) {
            (true, _) => last.notes.last_mut().and_then(|note| note.place.as_mut()),
            (false, Place::Source(place)) => Some(place),
            (false, Place::EndOfSource | Place::Ptx { .. } | Place::Nowhere) => None,
        };
        let Some(place) = place.filter(|place| place.excerpt.is_none()) else { return false };
        place.column = column;
        place.excerpt = Some(echoed.get(INDENT..).unwrap_or(echoed).to_owned());
        true
    }

    /// Lines that no caret followed continue the message.
    fn flush(&mut self) {
        self.in_contexts = false;
        let in_note = self.in_note;
        let Some(last) = self.log.diagnostics.last_mut() else { return };
        let message = match last.notes.last_mut() {
            Some(note) if in_note => &mut note.message,
            Some(_) | None => &mut last.message,
        };
        for line in self.pending.drain(..) {
            message.push('\n');
            message.push_str(line.trim());
        }
    }
}

fn keep(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// The caret is as many bytes from the left as the location, with tabs repeated. The column counts characters.
fn caret_column(caret: &str, echoed: &str) -> Option<u32> {
    let at = caret.find('^')?;
    let before = echoed
        .as_bytes()
        .get(INDENT..at.max(INDENT))
        .or_else(|| echoed.as_bytes().get(INDENT..))?;
    let characters = String::from_utf8_lossy(before).chars().count();
    u32::try_from(characters + 1).ok()
}

fn split_context<'log>(
    text: &'log str,
    own: Option<&'log str>,
) -> Option<(&'log str, &'log str, u32)> {
    let (message, rest) = text.rsplit_once(" at line ")?;
    match rest.split_once(" of ") {
        Some((number, file)) => Some((message, file, number.parse().ok()?)),
        None => Some((message, own?, rest.parse().ok()?)),
    }
}

/// `    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads`, as older assemblers
/// write it, without their name in front.
fn is_assembler_continuation(line: &str) -> bool {
    line.starts_with("    ")
        && line.contains(" bytes stack frame, ")
        && line.ends_with(" bytes spill loads")
}

/// Whether a line is a summary or a hint that repeats information of the diagnostics.
fn is_summary(line: &str) -> bool {
    let counted = line.split_once(" detected in the compilation of ").is_some_and(|(before, _)| {
        before.starts_with(|first: char| first.is_ascii_digit())
            && (before.ends_with("error") || before.ends_with("errors"))
    });
    counted
        || line == "Compilation terminated."
        || line.starts_with("Remark: The warnings can be suppressed with ")
        || line.starts_with("Remark: Errors can be suppressed with ")
}
