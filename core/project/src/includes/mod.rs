//! The include closure of a kernel: all texts that will be compiled, or the reasons for refusal.
//!
//! The compiler can read any file: absolute paths, its working directory, any path that a macro expands to. So includes
//! are resolved here from the texts, and only unambiguous directives are accepted. The behaviour of the compiler for
//! ambiguous spellings was determined with NVRTC 13.5 and is recorded in the tests. Names that only the preprocessor
//! can form (tokens pasted with `##`) are invisible to any scan: the sandbox of the compile worker is the second
//! barrier.

mod directives;
mod forgery;
mod lexer;
mod line_directives;
mod name;
mod refusal;

#[cfg(test)]
mod tests;

pub use directives::{IncludeDirective, scan};
pub use forgery::{HeaderPolicy, LineTableHazard, forgery};
pub use line_directives::{LineDirective, line_directives};
pub use refusal::{Reason, Refusal, SourceLocation};

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Longest chain of includes, counted from the kernel.
pub const MAX_DEPTH: usize = 64;

/// Maximum number of project files in one closure, including the kernel.
pub const MAX_FILES: usize = 256;

/// Maximum bytes of text in one closure, including the kernel.
pub const MAX_BYTES: usize = 4 << 20;

/// The result of looking up a name in the project's `include/` folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// The file's text.
    Found(String),
    /// No such file: the toolkit may have it.
    Absent,
    /// A file that must not be read (a link out of the project, not UTF-8 …), in words.
    Refused(String),
}

/// A project file that is compiled as part of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncludedFile {
    /// The name in the directive, relative to `include/`.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// Everything that the directives of one kernel lead to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Closure {
    /// Project files in the order in which they are first met, without the kernel itself.
    pub files: Vec<IncludedFile>,
    /// Toolkit headers by name, each with its first include directive.
    pub system: BTreeMap<String, SourceLocation>,
}

/// Follows every include of the kernel `name` with text `text`; `lookup` answers for names
/// below the project's `include/` folder.
///
/// # Errors
/// Every reason for which this text must not reach the compiler, in reading order.
pub fn closure(
    name: &str,
    text: &str,
    mut lookup: impl FnMut(&str) -> Lookup,
) -> Result<Closure, Vec<Refusal>> {
    let mut walk = Walk { bytes: text.len(), ..Walk::default() };
    if walk.bytes > MAX_BYTES {
        let place = SourceLocation { file: name.to_owned(), line: 1, column: 1 };
        return Err(vec![Refusal { place, reason: Reason::TotalSize { limit: MAX_BYTES } }]);
    }
    walk.read(name, text, 0);
    while let Some((directive, depth)) = walk.pending.pop_front() {
        walk.follow(directive, depth, &mut lookup);
    }
    if walk.refusals.is_empty() { Ok(walk.closure) } else { Err(walk.refusals) }
}

/// Breadth first, so that a depth is the shortest chain and a cycle ends at once.
#[derive(Default)]
struct Walk {
    closure: Closure,
    seen: BTreeSet<String>,
    pending: VecDeque<(IncludeDirective, usize)>,
    refusals: Vec<Refusal>,
    bytes: usize,
}

impl Walk {
    fn read(&mut self, file: &str, text: &str, depth: usize) {
        match scan(file, text) {
            Ok(directives) => {
                self.pending.extend(directives.into_iter().map(|each| (each, depth + 1)));
            }
            Err(refusals) => self.refusals.extend(refusals),
        }
    }

    fn follow(
        &mut self,
        directive: IncludeDirective,
        depth: usize,
        lookup: &mut impl FnMut(&str) -> Lookup,
    ) {
        let IncludeDirective { name, place } = directive;
        if self.closure.system.contains_key(&name) || !self.seen.insert(name.clone()) {
            return;
        }
        let text = match lookup(&name) {
            Lookup::Found(text) => text,
            Lookup::Absent => {
                self.closure.system.insert(name, place);
                return;
            }
            Lookup::Refused(why) => return self.refuse(place, Reason::File { name, why }),
        };
        if depth > MAX_DEPTH {
            return self.refuse(place, Reason::Depth { limit: MAX_DEPTH });
        }
        if self.closure.files.len() + 1 >= MAX_FILES {
            return self.refuse(place, Reason::TooManyFiles { limit: MAX_FILES });
        }
        self.bytes = self.bytes.saturating_add(text.len());
        if self.bytes > MAX_BYTES {
            return self.refuse(place, Reason::TotalSize { limit: MAX_BYTES });
        }
        self.read(&name, &text, depth);
        self.closure.files.push(IncludedFile { name, text });
    }

    fn refuse(&mut self, place: SourceLocation, reason: Reason) {
        self.refusals.push(Refusal { place, reason });
    }
}
