//! Finds the include directives of one text, and all constructs that must not be compiled.

use std::collections::BTreeSet;

use super::lexer::{Doubt, Kind, Lexer, Token};
use super::{Reason, Refusal, SourceLocation, name};

/// A plain `#include "name"` or `#include <name>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncludeDirective {
    /// The name between the delimiters, checked.
    pub name: String,
    /// Location of the directive.
    pub place: SourceLocation,
}

/// Reads the include directives of `text`, including conditional ones.
///
/// # Errors
/// All refusals in reading order, at most 20. After an ambiguous spelling the rest is not read, because it has two
/// possible readings.
pub fn scan(file: &str, text: &str) -> Result<Vec<IncludeDirective>, Vec<Refusal>> {
    let places = Places::new(file, text);
    let mut scanner = Scanner {
        lexer: Lexer::new(text),
        found: Vec::new(),
        doubts: Vec::new(),
        pieces: BTreeSet::new(),
        pasting: None,
    };
    let outcome = doubtful_character(text).map_or_else(|| scanner.run(), Err);
    scanner.doubts.extend(outcome.err());
    if scanner.doubts.is_empty() {
        let directive = |(at, name): (usize, &str)| IncludeDirective {
            name: name.to_owned(),
            place: places.place_at(at),
        };
        return Ok(scanner.found.into_iter().map(directive).collect());
    }
    scanner.doubts.truncate(20);
    let refusal = |doubt: Doubt| Refusal { place: places.place_at(doubt.at), reason: doubt.reason };
    Err(scanner.doubts.into_iter().map(refusal).collect())
}

struct Places<'text> {
    file: &'text str,
    text: &'text str,
    line_starts: Vec<usize>,
}

impl<'text> Places<'text> {
    fn new(file: &'text str, text: &'text str) -> Self {
        let after = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { file, text, line_starts: std::iter::once(0).chain(after).collect() }
    }

    fn place_at(&self, at: usize) -> SourceLocation {
        let line = self.line_starts.partition_point(|&start| start <= at);
        let before = &self.text[self.line_starts[line - 1]..at];
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let column = before.trim_start_matches('\u{feff}').chars().count() + 1;
        SourceLocation { file: self.file.to_owned(), line: count(line), column: count(column) }
    }
}

/// The first character that compilers interpret differently as the end of a line or of the text.
fn doubtful_character(text: &str) -> Option<Doubt> {
    let bytes = text.as_bytes();
    let after = |at: usize| bytes.get(at + 1).copied();
    let lone = |&at: &usize| bytes[at] == b'\r' && !matches!(after(at), Some(b'\r' | b'\n'));
    let found = |at, reason| Doubt { at, reason };
    [
        text.find('\0').map(|at| found(at, Reason::NulCharacter)),
        text.find("??/").map(|at| found(at, Reason::Trigraph { trigraph: "??/" })),
        (0..bytes.len()).find(lone).map(|at| found(at, Reason::LoneCarriageReturn)),
    ]
    .into_iter()
    .flatten()
    .min_by_key(|doubt| doubt.at)
}

struct Scanner<'text> {
    lexer: Lexer<'text>,
    found: Vec<(usize, &'text str)>,
    doubts: Vec<Doubt>,
    /// Words that are a part of a macro in [`CLOCKS`].
    pieces: BTreeSet<String>,
    /// The first `##`.
    pasting: Option<usize>,
}

/// Macros with the time of compilation. NVRTC 13.5 permits no other definition of them, on its command line or in a
/// text.
const CLOCKS: [&str; 3] = ["__TIME__", "__DATE__", "__TIMESTAMP__"];

/// Maximum number of pieces of a macro's name: with more, single letters, which are common in templates, would form
/// one.
const MOST_PIECES: usize = 4;

/// Whether the pieces, each used any number of times, can be concatenated to a name.
fn can_be_pasted(name: &str, pieces: &BTreeSet<String>, most: usize) -> bool {
    name.is_empty()
        || most > 0
            && pieces.iter().any(|piece| {
                name.strip_prefix(piece.as_str())
                    .is_some_and(|rest| can_be_pasted(rest, pieces, most - 1))
            })
}

impl<'text> Scanner<'text> {
    fn run(&mut self) -> Result<(), Doubt> {
        let mut line_begins = true;
        loop {
            let token = self.lexer.next()?;
            match &token.kind {
                Kind::End => {
                    let is_pasted = |name: &&str| can_be_pasted(name, &self.pieces, MOST_PIECES);
                    if let Some(at) = self.pasting
                        && let Some(name) = CLOCKS.into_iter().find(is_pasted)
                    {
                        self.refuse(at, Reason::Clock { name });
                    }
                    return Ok(());
                }
                Kind::Newline => line_begins = true,
                // NVRTC accepts `x /* a` newline `b */ #include` as a directive; other compilers do not.
                Kind::Comment => line_begins |= self.spans_lines(&token),
                Kind::Hash { digraph } if line_begins => {
                    line_begins = self.directive(token.start, *digraph)?;
                }
                Kind::Identifier(word) => {
                    self.word(word, token.start)?;
                    line_begins = false;
                }
                Kind::Hash { .. } => {
                    if matches!(self.lexer.upcoming(), Some(b'#' | b'%')) {
                        self.pasting.get_or_insert(token.start);
                    }
                    line_begins = false;
                }
                Kind::Number | Kind::Text | Kind::Other(_) => line_begins = false,
            }
        }
    }

    fn refuse(&mut self, at: usize, reason: Reason) {
        self.doubts.push(Doubt { at, reason });
    }

    /// Continues after a `#` at the start of a line; true if the line was read to its end.
    fn directive(&mut self, at: usize, digraph: bool) -> Result<bool, Doubt> {
        let splices = self.lexer.splices;
        let (token, commented) = self.next_but_comments()?;
        if digraph {
            self.refuse(at, Reason::Digraph);
        }
        if commented && self.lexer.text_between(at, token.start).contains('\n') {
            self.refuse(at, Reason::SplicedComment);
        }
        let Kind::Identifier(word) = &token.kind else {
            return Ok(matches!(token.kind, Kind::Newline | Kind::End));
        };
        match &**word {
            "include" => return self.include(at, splices, commented),
            "include_next" => self.refuse(at, Reason::Directive { directive: "#include_next" }),
            "import" => self.refuse(at, Reason::Directive { directive: "#import" }),
            "embed" => self.refuse(at, Reason::Directive { directive: "#embed" }),
            "pragma" => return self.pragma(at),
            other => self.word(other, token.start)?,
        }
        Ok(false)
    }

    fn include(&mut self, at: usize, splices: usize, commented: bool) -> Result<bool, Doubt> {
        let mut commented = commented;
        let operand = loop {
            if let Some(operand) = self.lexer.header_name() {
                break operand;
            }
            let token = self.lexer.next()?;
            if token.kind != Kind::Comment {
                self.refuse(at, Reason::MacroOperand);
                return Ok(matches!(token.kind, Kind::Newline | Kind::End));
            }
            commented = true;
        };
        let checked = operand.and_then(|name| name::check(name).map(|()| name));
        if commented {
            self.refuse(at, Reason::SplicedComment);
        }
        match checked {
            Ok(name) => self.found.push((at, name)),
            // The rest of the line has no certain tokens, so the remaining text is not read.
            Err(reason) => return Err(Doubt { at, reason }),
        }
        let (token, _) = self.next_but_comments()?;
        if !matches!(token.kind, Kind::Newline | Kind::End) {
            self.refuse(token.start, Reason::ExtraText);
            return Ok(false);
        }
        if self.lexer.splices > splices {
            self.refuse(at, Reason::SplitDirective);
        }
        Ok(true)
    }

    fn pragma(&mut self, at: usize) -> Result<bool, Doubt> {
        let mut first = true;
        loop {
            let token = self.lexer.next()?;
            match &token.kind {
                Kind::Newline | Kind::End => return Ok(true),
                Kind::Comment if self.spans_lines(&token) => return Ok(true),
                Kind::Comment => continue,
                Kind::Identifier(word) => {
                    if let Some(word) = file_naming_pragma(word, first) {
                        self.refuse(at, Reason::Pragma { word });
                    }
                    self.word(word, token.start)?;
                }
                Kind::Hash { .. } | Kind::Number | Kind::Text | Kind::Other(_) => {}
            }
            first = false;
        }
    }

    /// Handles words that access files in any position.
    fn word(&mut self, word: &str, at: usize) -> Result<(), Doubt> {
        if let Some(name) = CLOCKS.into_iter().find(|name| *name == word) {
            self.refuse(at, Reason::Clock { name });
            return Ok(());
        }
        if CLOCKS.iter().any(|name| name.contains(word)) {
            self.pieces.insert(word.to_owned());
        }
        let probe = match word {
            "__has_include" => "__has_include",
            "__has_include_next" => "__has_include_next",
            "__has_embed" => "__has_embed",
            "_Pragma" | "__pragma" => return self.pragma_operator(at),
            "import" => {
                if matches!(self.lexer.upcoming(), Some(b'"' | b'<')) {
                    self.refuse(at, Reason::Directive { directive: "import" });
                }
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.refuse(at, Reason::Probe { operator: probe });
        Ok(())
    }

    /// `_Pragma("…")`: the words in the string are those of a pragma.
    fn pragma_operator(&mut self, at: usize) -> Result<(), Doubt> {
        if self.lexer.upcoming() != Some(b'(') {
            return Ok(());
        }
        self.lexer.next()?;
        if !matches!(self.lexer.upcoming(), Some(b'"' | b'L' | b'u' | b'U' | b'R')) {
            return Ok(());
        }
        let token = self.lexer.next()?;
        let is_word = |each: char| each.is_ascii_alphanumeric() || each == '_';
        let text = self.lexer.text_between(token.start, token.end);
        let words = text.split(|each| !is_word(each)).filter(|word| !word.is_empty());
        let named = words.enumerate().find_map(|(at, word)| file_naming_pragma(word, at == 0));
        if let Some(word) = named {
            self.refuse(at, Reason::Pragma { word });
        }
        Ok(())
    }

    fn spans_lines(&self, token: &Token<'_>) -> bool {
        self.lexer.text_between(token.start, token.end).contains('\n')
    }

    fn next_but_comments(&mut self) -> Result<(Token<'text>, bool), Doubt> {
        let mut commented = false;
        loop {
            let token = self.lexer.next()?;
            if token.kind != Kind::Comment {
                return Ok((token, commented));
            }
            commented = true;
        }
    }
}

/// NVRTC 13.5 supports none of these, but its front end and other versions do.
fn file_naming_pragma(word: &str, first: bool) -> Option<&'static str> {
    const ANYWHERE: [&str; 8] = [
        "dependency",
        "include_alias",
        "hdrstop",
        "pch_preprocess",
        "create_pch",
        "use_pch",
        "include_next",
        "module",
    ];
    let known = ANYWHERE.into_iter().find(|each| *each == word);
    known.or_else(|| {
        ["comment", "import", "include"].into_iter().find(|each| first && *each == word)
    })
}
