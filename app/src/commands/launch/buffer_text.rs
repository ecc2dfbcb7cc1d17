//! The text form of a buffer after the launch: abbreviated, with exact values.

use std::fmt::Write as _;
use std::ops::Range;

use lightbench_core::element_text::{element, element_text};
use unicode_width::UnicodeWidthStr as _;

use super::PrintedBuffer;
use crate::style::{DIM, NOTE, STRONG};

/// Number of elements shown from the beginning and from the end of a long buffer.
const FIRST: usize = 64;
const LAST: usize = 16;

/// Line width, in columns.
const WIDTH: usize = 100;

/// The text for an uninitialised element.
const UNWRITTEN: &str = "unwritten";

pub(super) fn buffer_text(printed: &PrintedBuffer<'_>) -> String {
    let PrintedBuffer { index, buffer, name, content } = printed;
    let (dtype, count) = (buffer.c_type.name(), buffer.count);
    let mut text =
        format!("{STRONG}{name}{STRONG:#} {DIM}--print {index} · {dtype}[{count}]{DIM:#}\n");
    let content = match content {
        Ok(content) => content,
        Err(error) => return text + &format!("{NOTE}note{NOTE:#}: cannot be read: {error}\n"),
    };
    let size = usize::try_from(buffer.c_type.bytes()).unwrap_or(1);
    let count = content.bytes.len() / size;
    let shown = |position: usize| {
        let range = position * size..(position + 1) * size;
        if !content.is_written(&range) {
            return UNWRITTEN.to_owned();
        }
        let value = content.bytes.get(range).and_then(|bytes| element(buffer.c_type, bytes));
        value.map_or_else(String::new, |value| element_text(buffer.c_type, value))
    };
    if count <= FIRST + LAST {
        rows(&mut text, 0..count, shown);
    } else {
        rows(&mut text, 0..FIRST, shown);
        writeln!(text, "  {DIM}… {} more; all of them in `--json`{DIM:#}", count - FIRST - LAST)
            .ok();
        rows(&mut text, count - LAST..count, shown);
    }
    text
}

/// Elements in aligned columns; each row begins with the index of its first element.
fn rows(text: &mut String, range: Range<usize>, shown: impl Fn(usize) -> String) {
    let cells: Vec<String> = range.clone().map(shown).collect();
    let width = cells.iter().map(|cell| cell.width()).max().unwrap_or(0) + 2;
    let label = range.end.to_string().len();
    // A power of two, so that rows begin at round indices.
    let most = (WIDTH.saturating_sub(label + 4) / width).max(1);
    let columns = 1_usize << most.ilog2();
    for (row, cells) in cells.chunks(columns).enumerate() {
        let first = range.start + row * columns;
        write!(text, "  {DIM}{first:>label$}{DIM:#}").ok();
        for cell in cells {
            write!(text, "{cell:>width$}").ok();
        }
        text.push('\n');
    }
}
