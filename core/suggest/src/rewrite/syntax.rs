//! Queries of the syntax tree, and the indentation of texts that move.

pub(super) use lightbench_cuda_source::syntax::{
    all, ancestors, bare, children, contains, enclosing, in_lambda, index, is_compound, is_return,
    named, one_line, part, statements, walk,
};

/// A text without its white space.
pub(super) fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// A text that goes over several lines, its lines behind the first moved to the right; directives stay.
pub(super) fn moved(text: &str, by: &str) -> String {
    let mut lines = text.split('\n');
    let mut moved = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        moved.push('\n');
        if !line.trim().is_empty() && !line.starts_with('#') {
            moved.push_str(by);
        }
        moved.push_str(line);
    }
    moved
}
