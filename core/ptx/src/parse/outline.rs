//! Bodies without their instructions: declarations, line information, and the names that operands mention.
//!
//! Instructions are skipped by their bytes, so that a body with instructions of any architecture has an outline.

use super::super::token::{PtxLocation, Token};
use super::super::tree::{Body, Statement};
use super::Parser;

impl<'a> Parser<'a> {
    /// All statements up to the closing brace of the body; the location of that brace, or of the end of the text.
    pub(super) fn outline_body(&mut self, body: &mut Body<'a>) -> PtxLocation {
        let mut depth = 0_u64;
        loop {
            let place = self.place();
            match self.token() {
                Token::End => return place,
                Token::Mark('{') => {
                    self.advance();
                    depth += 1;
                }
                Token::Mark('}') => {
                    self.advance();
                    if depth == 0 {
                        return place;
                    }
                    depth -= 1;
                }
                Token::Mark(';') => self.advance(),
                Token::Word(_) if self.ahead.token == Token::Mark(':') => {
                    self.advance();
                    self.advance();
                }
                Token::Dotted("loc") => match self.location() {
                    Ok(location) => body.statements.push(Statement::Location(location, place)),
                    Err(_) => self.recover_in_body(),
                },
                Token::Dotted("file") => {
                    if self.file().is_err() {
                        self.recover_in_body();
                    }
                }
                Token::Dotted("shared" | "const" | "extern" | "visible" | "weak" | "common") => {
                    self.outline_declaration(body);
                }
                _ => {
                    let first = self.current;
                    self.skip_statement(&first, &mut body.symbols);
                }
            }
        }
    }

    fn outline_declaration(&mut self, body: &mut Body<'a>) {
        let linkage = self.linkage();
        match self.declaration(linkage) {
            Ok(declarations) => {
                let boxed = declarations.into_iter().map(Box::new);
                body.statements.extend(boxed.map(Statement::Declaration));
            }
            Err(_) => self.recover_in_body(),
        }
    }

    /// Skips the initialiser after `=`, up to the `,` or `;` behind it.
    pub(super) fn skip_initialiser(&mut self) {
        let mut depth = 0_u64;
        loop {
            match self.token() {
                Token::Mark('{' | '(') => depth += 1,
                Token::Mark('}' | ')') => depth = depth.saturating_sub(1),
                Token::Mark(',') if depth == 0 => return,
                Token::Mark(';') | Token::End => return,
                _ => {}
            }
            self.advance();
        }
    }
}
