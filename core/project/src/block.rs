//! Finds the launch block in a kernel file: exactly one comment `/*@ lightbench( … ) @*/`.

use std::{ops::Range, path::Path};

use lightbench_cuda_source::lexer::{TokenKind, tokens};

use super::{
    nearest::nearest,
    problem::{Problem, SourceLocation, problem},
};

/// The first word of a launch block.
pub(super) const WORD: &str = "lightbench";

/// The bytes of the block's RON text: from its name to its closing bracket; `None` if the file has no block.
pub(super) fn find(file: &Path, text: &str) -> Result<Option<Range<usize>>, Box<Problem>> {
    let mut found: Option<Range<usize>> = None;
    for opened in openings(text) {
        let block = one(file, text, opened)?;
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

/// The problem of a file without its required block.
pub(super) fn missing(file: &Path, text: &str) -> Box<Problem> {
    let help = "add `/*@ lightbench(title: \"…\", steps: [launch(kernel: \"…\", grid: […], block: […])]) @*/`";
    report(
        file,
        text,
        0..0,
        "the file has no launch block",
        "one comment `/*@ lightbench( … ) @*/`",
        Some(help),
    )
}

/// Where `/*@` opens a comment: not inside line comments, other comments, or literals.
pub(super) fn openings(text: &str) -> Vec<usize> {
    let comments = tokens(text).filter(|token| token.kind == TokenKind::Comment);
    let starts = comments.map(|token| token.range.start);
    starts.filter(|start| text[*start..].starts_with("/*@")).collect()
}

/// The RON text of the comment that opens at a place.
fn one(file: &Path, text: &str, opened: usize) -> Result<Range<usize>, Box<Problem>> {
    let inside = opened + 3;
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
        return Err(report(file, text, span, &found, "`/*@ lightbench( … ) @*/`", near.as_deref()));
    }
    let Some(close) = rest.find("*/") else {
        let found = "the launch block is not closed";
        return Err(report(file, text, opened..opened + 3, found, "`) @*/` at its end", None));
    };
    let Some(body) = rest[..close].strip_suffix('@') else {
        let span = inside + close..inside + close + 2;
        let found = "the launch block ends with `*/`";
        return Err(report(file, text, span, found, "`@*/`", Some("write `) @*/`")));
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
