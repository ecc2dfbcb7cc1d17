//! Debug sections: skipped, except the strings that name inlined functions. PTX ISA, section 11.5.

use super::super::token::Token;
use super::{Parsed, Parser};

impl<'a> Parser<'a> {
    /// `.section .debug_str { … }`
    pub(super) fn section(&mut self) -> Parsed<()> {
        self.advance();
        let Token::Dotted(name) = self.token() else {
            return Err(self.unexpected("the name of a section"));
        };
        self.advance();
        self.expect('{')?;
        if name == "debug_str" {
            return self.strings();
        }
        let mut depth = 1_u32;
        while depth > 0 {
            match self.token() {
                Token::Mark('{') => depth += 1,
                Token::Mark('}') => depth -= 1,
                Token::End => return Err(self.unexpected("`}` at the end of a section")),
                _ => {}
            }
            self.advance();
        }
        Ok(())
    }

    /// Labels, each followed by zero-terminated bytes.
    fn strings(&mut self) -> Parsed<()> {
        let mut label = None;
        let mut bytes = Vec::new();
        loop {
            match self.token() {
                Token::Word(name) => label = Some(name),
                Token::Integer(0) => {
                    if let Some(label) = label.take() {
                        let text = String::from_utf8_lossy(&bytes).into_owned();
                        self.tree.strings.push((label, text));
                    }
                    bytes.clear();
                }
                Token::Integer(value) if label.is_some() => bytes.push(value as u8),
                Token::Mark('}') => {
                    self.advance();
                    return Ok(());
                }
                Token::End => return Err(self.unexpected("`}` at the end of a section")),
                _ => {}
            }
            self.advance();
        }
    }
}
