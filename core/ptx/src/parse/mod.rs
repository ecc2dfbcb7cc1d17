//! Tokens to syntax tree. Every error is kept with its location; after an error, parsing continues after the next
//! `;` or `}`.
//!
//! No function here is recursive, and each step consumes a token: time is linear in the length of the text, and the
//! depth of the stack does not depend on the text.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a token of any kind but the wanted ones is the same error"
)]

mod declarations;
mod functions;
mod initialisers;
mod operands;
mod outline;
mod sections;
mod statements;

use super::error::SyntaxError;
use super::token::{Lexeme, PtxLocation, Token, Tokens};
use super::tree::{Alias, File, Linkage, Literal, Tree};

/// The limit of reported errors.
pub const MAX_ERRORS: usize = 100;

/// The result of one step of parsing; the error has the location where it was found.
type Parsed<T> = Result<T, SyntaxError>;

/// Parses a whole text; the tree contains the parts without errors. An instruction whose operands cannot be read is an
/// [`Unsupported`](super::tree::Unsupported) statement with an error of its own.
///
/// Parsing ends after [`MAX_ERRORS`] + 1 errors of either kind: more errors than the limit show that the tree is not
/// complete.
#[must_use]
pub fn parse(text: &str) -> (Tree<'_>, Vec<SyntaxError>) {
    let mut parser = Parser::new(text, Detail::Full);
    parser.module();
    (parser.tree, parser.errors)
}

/// The declarations and the line information of a whole text, without instructions and initialisers. Text that is not
/// PTX yields only the parts that resemble PTX.
#[must_use]
pub fn outline(text: &str) -> Tree<'_> {
    let mut parser = Parser::new(text, Detail::Outline);
    parser.module();
    parser.tree
}

/// The parts of a text that become part of the tree.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// All of them.
    Full,
    /// Declarations and line information; syntax errors are not kept.
    Outline,
}

struct Parser<'a> {
    tokens: Tokens<'a>,
    current: Lexeme<'a>,
    ahead: Lexeme<'a>,
    detail: Detail,
    tree: Tree<'a>,
    errors: Vec<SyntaxError>,
    /// The number of statements with an error of their own.
    unsupported: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, detail: Detail) -> Self {
        let mut tokens = Tokens::new(text);
        let current = tokens.next_token();
        let ahead = tokens.next_token();
        let (tree, errors) = (Tree::default(), Vec::new());
        Self { tokens, current, ahead, detail, tree, errors, unsupported: 0 }
    }

    fn module(&mut self) {
        while self.token() != Token::End && !self.exhausted() {
            if let Err(error) = self.item() {
                self.report(error);
                self.recover_at_module_level();
            }
        }
    }

    fn item(&mut self) -> Parsed<()> {
        match self.token() {
            Token::Dotted("version") => self.version(),
            Token::Dotted("target") => self.target(),
            Token::Dotted("address_size") => {
                self.advance();
                self.tree.address_size = Some(self.unsigned("32 or 64")?);
                Ok(())
            }
            Token::Dotted("file") => self.file(),
            Token::Dotted("section") => self.section(),
            Token::Dotted("alias") => self.alias(),
            Token::Dotted("pragma") => self.pragma(),
            // Line information outside a function is ignored.
            Token::Dotted("loc") => self.location().map(|_| ()),
            Token::Mark(';') => {
                self.advance();
                Ok(())
            }
            _ => self.linked_item(),
        }
    }

    /// `.visible .entry …`, `.extern .shared …`.
    fn linked_item(&mut self) -> Parsed<()> {
        let linkage = self.linkage();
        match self.token() {
            Token::Dotted("entry" | "func") => self.function(linkage),
            _ => {
                let declarations = self.declaration(linkage)?;
                self.tree.variables.extend(declarations);
                Ok(())
            }
        }
    }

    fn linkage(&mut self) -> Linkage {
        let mut linkage = Linkage::Internal;
        loop {
            linkage = match self.token() {
                Token::Dotted("visible") => Linkage::Visible,
                Token::Dotted("extern") => Linkage::Extern,
                Token::Dotted("weak") => Linkage::Weak,
                Token::Dotted("common") => Linkage::Common,
                _ => return linkage,
            };
            self.advance();
        }
    }

    fn version(&mut self) -> Parsed<()> {
        self.advance();
        let numbers = self.tokens.dotted_number(&self.current).split_once('.');
        let version = numbers.and_then(|(major, minor)| major.parse().ok().zip(minor.parse().ok()));
        if version.is_none() {
            return Err(self.unexpected("a version such as 8.5"));
        }
        self.tree.version = version;
        self.advance();
        Ok(())
    }

    fn target(&mut self) -> Parsed<()> {
        self.advance();
        loop {
            let name = self.word("a target such as sm_90")?;
            self.tree.targets.push(name);
            if !self.accept(',') {
                return Ok(());
            }
        }
    }

    /// `.file 1 "name"`, optionally with a time and a size.
    fn file(&mut self) -> Parsed<()> {
        self.advance();
        let index = self.unsigned("the number of the file")? as u32;
        let Token::Text(path) = self.token() else {
            return Err(self.unexpected("the name of a file"));
        };
        self.advance();
        self.tree.files.push(File { index, path });
        while self.accept(',') {
            self.unsigned("a number")?;
        }
        Ok(())
    }

    fn alias(&mut self) -> Parsed<()> {
        self.advance();
        let place = self.place();
        let name = self.word("the name of a function")?;
        self.expect(',')?;
        let target = self.word("the name of a function")?;
        self.expect(';')?;
        self.tree.aliases.push(Alias { place, name, target });
        Ok(())
    }

    /// A hint for the optimiser, ignored.
    fn pragma(&mut self) -> Parsed<()> {
        self.advance();
        loop {
            let Token::Text(_) = self.token() else { return Err(self.unexpected("a string")) };
            self.advance();
            if !self.accept(',') {
                break;
            }
        }
        self.expect(';')
    }

    // Basic steps of parsing.

    fn token(&self) -> Token<'a> {
        self.current.token
    }

    fn place(&self) -> PtxLocation {
        self.current.place
    }

    fn advance(&mut self) {
        self.current = self.ahead;
        self.ahead = self.tokens.next_token();
    }

    /// Skips the statement that begins with a lexeme, with its `;`; its text. The names in it that are not registers
    /// are added to `symbols`.
    fn skip_statement(&mut self, first: &Lexeme<'a>, symbols: &mut Vec<&'a str>) -> &'a str {
        self.tokens.rewind(first);
        self.tokens.skip_statement(|name| symbols.push(name));
        let text = self.tokens.text_from(first);
        self.current = self.tokens.next_token();
        self.ahead = self.tokens.next_token();
        self.accept(';');
        text
    }

    fn accept(&mut self, mark: char) -> bool {
        let there = self.token() == Token::Mark(mark);
        if there {
            self.advance();
        }
        there
    }

    fn expect(&mut self, mark: char) -> Parsed<()> {
        if self.accept(mark) {
            return Ok(());
        }
        Err(self.unexpected(match mark {
            ';' => "`;`",
            ',' => "`,`",
            '(' => "`(`",
            ')' => "`)`",
            '{' => "`{`",
            '}' => "`}`",
            ']' => "`]`",
            '>' => "`>`",
            _ => "other punctuation",
        }))
    }

    fn word(&mut self, expected: &'static str) -> Parsed<&'a str> {
        match self.token() {
            Token::Word(name) => {
                self.advance();
                Ok(name)
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    fn unsigned(&mut self, expected: &'static str) -> Parsed<u64> {
        match self.token() {
            Token::Integer(value) => {
                self.advance();
                Ok(value)
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    /// A number with any signs before it.
    fn literal(&mut self) -> Parsed<Literal> {
        let mut negative = false;
        while matches!(self.token(), Token::Mark('-' | '+')) {
            negative ^= self.token() == Token::Mark('-');
            self.advance();
        }
        let literal = match self.token() {
            Token::Integer(value) if negative => Literal::Integer((value as i64).wrapping_neg()),
            Token::Integer(value) => Literal::Integer(value as i64),
            Token::Single(bits) => Literal::Single(bits ^ (u32::from(negative) << 31)),
            Token::Double(bits) => Literal::Double(bits ^ (u64::from(negative) << 63)),
            _ => return Err(self.unexpected("a number")),
        };
        self.advance();
        Ok(literal)
    }

    /// `+4`, `-4`, `+-4`, or nothing.
    fn offset(&mut self) -> Parsed<i64> {
        if !matches!(self.token(), Token::Mark('-' | '+')) {
            return Ok(0);
        }
        match self.literal()? {
            Literal::Integer(value) => Ok(value),
            Literal::Single(_) | Literal::Double(_) => Err(self.unexpected("a whole offset")),
        }
    }

    fn unexpected(&self, expected: &'static str) -> SyntaxError {
        SyntaxError { place: self.place(), found: self.token().to_string(), expected }
    }

    fn report(&mut self, error: SyntaxError) {
        match self.detail {
            Detail::Full => self.errors.push(error),
            Detail::Outline => {}
        }
    }

    fn exhausted(&self) -> bool {
        self.errors.len() + self.unsupported > MAX_ERRORS
    }

    /// Skips the rest of an invalid item: up to `;` outside braces, or the `}` that closes it.
    fn recover_at_module_level(&mut self) {
        let mut depth = 0_u32;
        loop {
            match self.token() {
                Token::End => return,
                Token::Mark('{') => depth += 1,
                Token::Mark('}') if depth <= 1 => {
                    self.advance();
                    return;
                }
                Token::Mark('}') => depth -= 1,
                Token::Mark(';') if depth == 0 => {
                    self.advance();
                    return;
                }
                Token::Dotted("entry" | "func" | "visible") if depth == 0 => return,
                _ => {}
            }
            self.advance();
        }
    }
}
