//! Text to syntax tree, with limits on size, time and nesting.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use crate::error::SourceError;

/// Nesting below which statements and expressions are read; Python itself permits 100 levels of indentation.
pub const DEEPEST: usize = 100;

/// A task or a kernel file is written by hand; this is a hundred times the longest seen.
const LARGEST_SOURCE: usize = 4 << 20;

/// Progress reports of the parser (one per hundred steps) after which parsing is stopped: this number for any source,
/// and one more for each [`BYTES_PER_REPORT`] bytes, as for CUDA C++.
const REPORTS_FOR_ANY: usize = 1000;
const BYTES_PER_REPORT: usize = 16;

/// Characters of a text at an error in a message.
const LONGEST_EXCERPT: usize = 40;

/// The syntax tree of a text without syntax errors.
pub(crate) fn parse(text: &str) -> Result<Tree, SourceError> {
    if text.len() > LARGEST_SOURCE {
        return Err(SourceError::TooLarge { bytes: text.len(), limit: LARGEST_SOURCE });
    }
    if let Some(at) = text.find('\0') {
        return Err(SourceError::Nul { line: line_of(text, at) });
    }
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_python::LANGUAGE.into())?;
    let most_reports = REPORTS_FOR_ANY + text.len() / BYTES_PER_REPORT;
    let (mut reports, mut reached) = (0, 0);
    let mut progress = |state: &ParseState| {
        reports += 1;
        reached = state.current_byte_offset();
        if reports > most_reports { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let bytes = text.as_bytes();
    let mut read = |offset: usize, _| bytes.get(offset..).unwrap_or_default();
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    let tree = tree.ok_or_else(|| SourceError::GaveUp { line: line_of(text, reached) })?;
    match first_error(tree.root_node()) {
        Some(node) => Err(SourceError::Syntax { line: line(node), found: found(text, node) }),
        None => Ok(tree),
    }
}

/// The line of a node's first character, from 1.
pub(crate) fn line(node: Node<'_>) -> usize {
    node.start_position().row + 1
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

fn found(text: &str, node: Node<'_>) -> String {
    let rest = text.get(node.start_byte()..).unwrap_or_default();
    let words = rest.lines().next().unwrap_or_default().trim();
    words.chars().filter(|letter| !letter.is_control()).take(LONGEST_EXCERPT).collect()
}

/// The first ERROR or MISSING node; not recursive, because a hostile text may nest deeply.
fn first_error(root: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            return Some(node);
        }
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return None;
            }
        }
    }
}
