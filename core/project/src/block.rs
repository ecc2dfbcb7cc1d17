//! Finds the launch block in a kernel file: exactly one comment `/*@ lightbench( … ) @*/`, or in Python exactly one string
//! `"""@ lightbench( … ) @"""` at the beginning of a line.

use std::{ops::Range, path::Path};

use lightbench_cuda_source::lexer::{TokenKind, tokens};

use super::{
    language::Language,
    nearest::nearest,
    problem::{Problem, SourceLocation, problem},
};

/// The first word of a launch block.
pub(super) const WORD: &str = "lightbench";

/// How launch blocks are written in a language. An `@` follows the opening and precedes the closing mark.
struct Notation {
    open: &'static str,
    close: &'static str,
    whole: &'static str,
    /// An example of a step.
    step: &'static str,
    /// Where blocks open in a text.
    openings: fn(&str) -> Vec<usize>,
}

const COMMENT: Notation = Notation {
    open: "/*",
    close: "*/",
    whole: "`/*@ lightbench( … ) @*/`",
    step: "launch(kernel: \"…\", grid: […], block: […])",
    openings,
};

const PYTHON: Notation = Notation {
    open: QUOTES,
    close: QUOTES,
    whole: "`\"\"\"@ lightbench( … ) @\"\"\"`",
    step: "triton(kernel: \"…\", args: […], constexprs: {…}, grid: […])",
    openings: python_openings,
};

/// The quotes of a Python string of several lines.
const QUOTES: &str = "\"\"\"";

impl Notation {
    fn of(file: &Path) -> Self {
        match Language::from_path(file) {
            Language::Cuda | Language::Ptx => COMMENT,
            Language::Triton => PYTHON,
        }
    }
}

/// The bytes of the block's RON text: from its name to its closing bracket; `None` if the file has no block.
pub(super) fn find(file: &Path, text: &str) -> Result<Option<Range<usize>>, Box<Problem>> {
    let mut found: Option<Range<usize>> = None;
    let notation = Notation::of(file);
    for opened in (notation.openings)(text) {
        let block = one(file, text, (opened, &notation))?;
        if let Some(first) = found {
            let first = text[..first.start].matches('\n').count() + 1;
            let found = format!("a second launch block; the first is on line {first}");
            return Err(report(
                file,
                text,
                block,
                &found,
                "one block in each file",
                Some("remove one of them"),
            ));
        }
        found = Some(block);
    }
    Ok(found)
}

/// The language of a text that is in no file, where its launch block or its first word decides it.
pub(super) fn language_of(text: &str) -> Option<Language> {
    if !python_openings(text).is_empty() {
        return Some(Language::Triton);
    }
    let first =
        tokens(text).find(|token| !matches!(token.kind, TokenKind::Comment | TokenKind::Space))?;
    text[first.range.start..].starts_with(".version").then_some(Language::Ptx)
}

/// The problem of a file without its required block.
pub(super) fn missing(file: &Path, text: &str) -> Box<Problem> {
    let Notation { open, close, whole, step, .. } = Notation::of(file);
    let help = format!("add `{open}@ lightbench(title: \"…\", steps: [{step}]) @{close}`");
    let expected = format!("one block {whole}");
    report(file, text, 0..0, "the file has no launch block", &expected, Some(&help))
}

/// Where `/*@` opens a comment: not inside line comments, other comments, or literals.
pub(super) fn openings(text: &str) -> Vec<usize> {
    let comments = tokens(text).filter(|token| token.kind == TokenKind::Comment);
    let starts = comments.map(|token| token.range.start);
    starts.filter(|start| text[*start..].starts_with("/*@")).collect()
}

/// Where a string at the beginning of a line opens with `"""@`: not inside comments or other strings.
fn python_openings(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'#' => at += text[at..].find('\n').unwrap_or(text.len() - at),
            b'"' | b'\'' => {
                let quote = text[at..=at].repeat(3);
                let quote =
                    if text[at..].starts_with(&quote) { quote.as_str() } else { &quote[..1] };
                let first = at == 0 || bytes[at - 1] == b'\n';
                if first && quote == QUOTES && text[at + 3..].starts_with('@') {
                    found.push(at);
                }
                at = string_end(text, at + quote.len(), quote);
            }
            _ => at += 1,
        }
    }
    found
}

/// The end of a Python string whose content begins at `at`. A string with one quote ends at its line's end at the latest.
fn string_end(text: &str, mut at: usize, quote: &str) -> usize {
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' if quote.len() == 1 => return at,
            _ if bytes[at..].starts_with(quote.as_bytes()) => return at + quote.len(),
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The RON text of the comment that opens at a place.
fn one(
    file: &Path,
    text: &str,
    (opened, notation): (usize, &Notation),
) -> Result<Range<usize>, Box<Problem>> {
    let inside = opened + notation.open.len() + 1;
    let rest = &text[inside..];
    let lead = rest.len() - rest.trim_start().len();
    let word_start = inside + lead;
    let word: String =
        text[word_start..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    if word != WORD {
        let near = nearest(&word, [WORD]).map(|near| format!("write `{near}`"));
        let span = word_start..word_start + word.len();
        let found = if word.is_empty() {
            "a block without a name".to_owned()
        } else {
            format!("unknown block `{word}`")
        };
        return Err(report(file, text, span, &found, notation.whole, near.as_deref()));
    }
    let end = format!("`) @{}`", notation.close);
    let Some(close) = rest.find(notation.close) else {
        let found = "the launch block is not closed";
        let expected = format!("{end} at its end");
        return Err(report(file, text, opened..inside, found, &expected, None));
    };
    let Some(body) = rest[..close].strip_suffix('@') else {
        let span = inside + close..inside + close + notation.close.len();
        let found = format!("the launch block ends with `{}`", notation.close);
        let expected = format!("`@{}`", notation.close);
        return Err(report(file, text, span, &found, &expected, Some(&format!("write {end}"))));
    };
    Ok(word_start..inside + body.trim_end().len())
}

fn report(
    file: &Path,
    text: &str,
    span: Range<usize>,
    found: &str,
    expected: &str,
    help: Option<&str>,
) -> Box<Problem> {
    Box::new(problem(
        SourceLocation { file, text, span, field: String::new() },
        found,
        expected,
        help,
    ))
}
