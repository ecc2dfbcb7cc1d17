//! Splits a reply into prose and fenced blocks, as defined by CommonMark.

use std::ops::Range;

/// A part of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part<'t> {
    /// Text outside blocks.
    Prose(&'t str),
    /// A block that ends.
    Complete(Fence<'t>),
    /// A block that never does.
    Unfinished(Fence<'t>),
}

/// A fenced block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fence<'t> {
    /// The info string after the opening fence.
    info: &'t str,
    /// The last line before it that is not empty.
    before: &'t str,
    /// The content, whole lines.
    pub(super) body: &'t str,
}

/// Info strings of kernels, edits and parameters; an empty one counts too.
const MEANT: &[&str] = &[
    "",
    "cuda",
    "cu",
    "cuh",
    "cpp",
    "c++",
    "cxx",
    "cc",
    "c",
    "h",
    "hpp",
    "diff",
    "patch",
    "edit",
    "edits",
    "search-replace",
    "json",
];

impl<'t> Fence<'t> {
    /// The language in lower case; empty without a language.
    pub(super) fn language(&self) -> String {
        let word = self.info.split([' ', ',', '{', ':', '\t']).next().unwrap_or_default();
        if is_file_name(word) { String::new() } else { word.to_ascii_lowercase() }
    }

    /// Whether the block may be a proposal, rather than output or an example.
    pub(super) fn may_be_meant(&self) -> bool {
        MEANT.contains(&self.language().as_str())
    }

    /// The file's name: in the fence (`cuda fast.cu`, `cuda:fast.cu`, `file=fast.cu`), or in the line above (`File: fast.cu`).
    pub(super) fn name(&self) -> Option<&'t str> {
        let quotes: &[char] = &['"', '\'', '`', '*', ',', ')', '('];
        let bare = |word: &'t str| {
            let word = word.rsplit_once('=').map_or(word, |(_, name)| name);
            word.trim_matches(quotes).trim_end_matches(':')
        };
        let in_fence = self.info.split([' ', ':', '\t']).map(bare).find(|word| is_file_name(word));
        let above = self.before.trim().trim_start_matches(['#', '*', '-', ' ']);
        let above = above.split_once(':').filter(|(word, _)| {
            let word = word.trim_matches(quotes).trim();
            word.eq_ignore_ascii_case("file") || word.eq_ignore_ascii_case("filename")
        });
        let above = above.map(|(_, name)| name.trim_matches(quotes).trim().trim_matches(quotes));
        in_fence.or(above.filter(|name| !name.is_empty()))
    }
}

/// Whether a word is the name of a file, good or bad.
fn is_file_name(word: &str) -> bool {
    let extension = word.rsplit_once('.').map_or("", |(_, extension)| extension);
    let letters = extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (1..=4).contains(&extension.len()) && letters
}

/// An opening or closing line.
struct Mark<'t> {
    character: char,
    length: usize,
    info: &'t str,
}

fn mark(line: &str) -> Option<Mark<'_>> {
    let line = line.trim();
    let character = line.chars().next().filter(|first| matches!(first, '`' | '~'))?;
    let info = line.trim_start_matches(character);
    let length = line.len() - info.len();
    let is_fence = length >= 3 && !(character == '`' && info.contains('`'));
    is_fence.then(|| Mark { character, length, info: info.trim() })
}

/// A block that has begun.
struct Open<'t> {
    mark: Mark<'t>,
    before: &'t str,
    /// Offset of its first line.
    from: usize,
}

impl<'t> Open<'t> {
    fn fence(&self, text: &'t str, to: usize) -> Fence<'t> {
        let body = text.get(self.from..to).unwrap_or_default();
        Fence { info: self.mark.info, before: self.before, body }
    }

    fn is_closed_by(&self, mark: &Mark<'_>) -> bool {
        mark.character == self.mark.character
            && mark.length >= self.mark.length
            && mark.info.is_empty()
    }

    /// Whether a block in a known language begins inside this one, which therefore was not closed.
    fn is_overtaken_by(&self, mark: &Mark<'_>) -> bool {
        let fence = Fence { info: mark.info, before: "", body: "" };
        mark.length >= self.mark.length && !mark.info.is_empty() && fence.may_be_meant()
    }
}

/// The parts of a reply, in their order.
pub(super) fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut open: Option<Open<'_>> = None;
    let mut before = "";
    let mut prose = 0;
    for Range { start, end } in lines(text) {
        let line = text.get(start..end).unwrap_or_default();
        let mark = mark(line);
        open = match (open.take(), mark) {
            (None, Some(mark)) => {
                parts.push(Part::Prose(text.get(prose..start).unwrap_or_default()));
                Some(Open { mark, before, from: end })
            }
            (Some(open), Some(mark)) if open.is_closed_by(&mark) => {
                parts.push(Part::Complete(open.fence(text, start)));
                (prose, before) = (end, "");
                None
            }
            (Some(open), Some(mark)) if open.is_overtaken_by(&mark) => {
                parts.push(Part::Unfinished(open.fence(text, start)));
                Some(Open { mark, before: "", from: end })
            }
            (open, _) => open,
        };
        if open.is_none() && !line.trim().is_empty() && prose <= start {
            before = line;
        }
    }
    parts.push(match open {
        Some(open) => Part::Unfinished(open.fence(text, text.len())),
        None => Part::Prose(text.get(prose..).unwrap_or_default()),
    });
    parts
}

/// Where the lines of a text are, with their ends.
fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.split_inclusive('\n').scan(0, |from, line| {
        let start = *from;
        *from += line.len();
        Some(start..*from)
    })
}
