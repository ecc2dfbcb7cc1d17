//! Finds the `#line` directives of one text.

use super::lexer::{Kind, Lexer};

/// `#line 100 "other.cu"`, or `# 100 "other.cu"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineDirective {
    /// The line of the text at whose end it ends, from 1.
    pub line: u32,
    /// The number of the next line; `None` if it is a macro.
    pub number: Option<u32>,
    /// The new file name, if given.
    pub file: Option<String>,
}

/// The kind of the preceding token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PrecedingToken {
    LineBegins,
    Hash,
    /// `#line`, or `#` and a number.
    Line,
    Other,
}

/// All directives in the order of the text, up to the first position that cannot be tokenised unambiguously.
#[must_use]
pub fn line_directives(text: &str) -> Vec<LineDirective> {
    let mut lexer = Lexer::new(text);
    let mut found = Vec::new();
    let mut before = PrecedingToken::LineBegins;
    let mut directive = LineDirective { line: 0, number: None, file: None };
    // A text that cannot be read is not compiled either.
    while let Ok(token) = lexer.next() {
        let is_end = token.kind == Kind::End;
        // A byte of another script is a token of its own, and no text.
        let written = text.get(token.start..token.end).unwrap_or_default();
        before = match (before, token.kind) {
            (PrecedingToken::Line, Kind::Newline | Kind::End) => {
                directive.line = line_at(text, token.start);
                found.push(std::mem::replace(
                    &mut directive,
                    LineDirective { line: 0, number: None, file: None },
                ));
                PrecedingToken::LineBegins
            }
            (_, Kind::Newline) => PrecedingToken::LineBegins,
            (before, Kind::Comment) => before,
            (PrecedingToken::LineBegins, Kind::Hash { .. }) => PrecedingToken::Hash,
            (PrecedingToken::Hash, Kind::Identifier(word)) if word == "line" => {
                PrecedingToken::Line
            }
            (PrecedingToken::Hash | PrecedingToken::Line, Kind::Number)
                if directive.number.is_none() =>
            {
                directive.number = written.parse().ok();
                PrecedingToken::Line
            }
            (PrecedingToken::Line, Kind::Text) => {
                directive.file = Some(written.trim_matches('"').to_owned());
                PrecedingToken::Line
            }
            (PrecedingToken::Line, _) => PrecedingToken::Line,
            (PrecedingToken::LineBegins | PrecedingToken::Hash | PrecedingToken::Other, _) => {
                PrecedingToken::Other
            }
        };
        if is_end {
            break;
        }
    }
    found
}

fn line_at(text: &str, at: usize) -> u32 {
    text[..at].matches('\n').count() as u32 + 1
}
