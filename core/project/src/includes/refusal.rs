//! Reasons to refuse a text, with their location; they never contain text of the included file.

use std::fmt;

/// A place in one of the texts given.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceLocation {
    /// The name under which the text was given.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// One thing that keeps a text from the compiler.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct Refusal {
    pub place: SourceLocation,
    /// The reason, with a suggestion.
    pub reason: Reason,
}

/// The reason to refuse a text, with a suggestion.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// `#include "/etc/passwd"`, `"C:\x"`, `"\\host\x"`, `"~/x"`.
    #[error(
        "the absolute path `{name}` is not included: put the file below the project's `include/` and write its name there"
    )]
    AbsolutePath {
        /// The operand.
        name: String,
    },
    /// A component `..`.
    #[error(
        "`{name}` leaves its folder through `..`: write the name below the project's `include/`"
    )]
    ParentFolder {
        /// The operand.
        name: String,
    },
    /// A component `.` or an empty one: the compiler matches names literally.
    #[error("`{name}` has an empty or `.` component: write the plain name below `include/`")]
    EmptyComponent {
        /// The operand.
        name: String,
    },
    /// A backslash, which is a path separator on some systems.
    #[error("`{name}` contains a backslash: separate folders with `/`")]
    Backslash {
        /// The operand.
        name: String,
    },
    /// `#include ""`.
    #[error("the include names no file: write `#include \"name.cuh\"`")]
    EmptyName,
    /// A character that no header's name has.
    #[error("the name of the included file contains the character U+{0:04X}: use letters, digits, `_`, `-`, `+`, `.` and `/`", *.character as u32)]
    NameCharacter {
        /// The character.
        character: char,
    },
    /// `"name` without its end on the same line.
    #[error(
        "the name of the included file has no closing delimiter: write `#include \"name.cuh\"`"
    )]
    UnterminatedName,
    /// Files that hold the answer or belong to other kernels.
    #[error(
        "`{name}` must not be included: only files below `include/` that are not kernels, references or project files can be included"
    )]
    Reserved {
        /// The operand.
        name: String,
    },
    /// The operand is neither `"name"` nor `<name>`.
    #[error(
        "the operand of `#include` is not a plain name: write `#include \"name.cuh\"` or `#include <name>`"
    )]
    MacroOperand,
    /// Something follows the name.
    #[error("text follows the name of the included file: end the line after the name")]
    ExtraText,
    /// `#include_next`, `#import`, `#embed`, `import "x";`.
    #[error("`{directive}` is not available to kernels: write `#include \"name.cuh\"`")]
    Directive {
        /// The directive.
        directive: &'static str,
    },
    /// `__has_include`, `__has_include_next`, `__has_embed`.
    #[error("`{operator}` tests which files exist: include the file, or leave it out")]
    Probe {
        /// The operator.
        operator: &'static str,
    },
    /// `__TIME__`, `__DATE__`, `__TIMESTAMP__`, or pieces of one that can be pasted with `##`.
    #[error(
        "`{name}` makes the compiled code depend on the time of compilation: leave it out, so that the same text always compiles to the same code"
    )]
    Clock {
        /// The macro.
        name: &'static str,
    },
    /// A pragma that names files.
    #[error("`#pragma {word}` names files: leave it out")]
    Pragma {
        /// The word that makes it so.
        word: &'static str,
    },
    /// `%:include`.
    #[error("a directive begins with the digraph `%:`: write `#`")]
    Digraph,
    /// `??=`, `??/`, `??'`: read as one character in some language modes only.
    #[error(
        "the trigraph `{trigraph}` depends on the language mode: write the character itself, or break the sequence up"
    )]
    Trigraph {
        /// The three characters.
        trigraph: &'static str,
    },
    /// `#include` continued on the next line by a backslash.
    #[error("an include directive is split over lines: write it on one line")]
    SplitDirective,
    /// `#/**/include`.
    #[error("a comment stands inside an include directive: move it to the end of the line")]
    SplicedComment,
    /// A raw string whose start or end is ambiguous.
    #[error(
        "the raw string is doubtful ({doubt}): write `R\"(…)\"` without line continuations, with a delimiter of at most 16 letters and digits"
    )]
    RawString {
        /// The ambiguity.
        doubt: &'static str,
    },
    /// A comment that never ends.
    #[error("the comment that begins here never ends: close it with `*/`")]
    UnterminatedComment,
    /// `1'"`, which compilers split differently.
    #[error(
        "a digit separator is not followed by a digit: remove it or put a space before the quote"
    )]
    DigitSeparator,
    /// The compiler would stop reading here.
    #[error("the text contains a NUL character: remove it")]
    NulCharacter,
    /// Not a line end for the compiler, but one for many editors.
    #[error("a carriage return without a line feed: save the file with LF or CRLF line ends")]
    LoneCarriageReturn,
    /// The lookup refused the file.
    #[error("`{name}` is not included: {why}")]
    File {
        /// The operand.
        name: String,
        /// The lookup's words.
        why: String,
    },
    /// A chain that is too long.
    #[error("includes are nested more than {limit} deep: flatten them")]
    Depth {
        /// The limit.
        limit: usize,
    },
    /// Too many files.
    #[error("the kernel includes more than {limit} project files: merge some")]
    TooManyFiles {
        /// The limit.
        limit: usize,
    },
    /// Too much text.
    #[error(
        "the kernel and its includes are larger than {limit} bytes together: remove what is not needed"
    )]
    TotalSize {
        /// The limit.
        limit: usize,
    },
}
