//! Entries and functions: header, performance directives, body. PTX ISA, sections 11.1 to 11.4.

use super::super::token::Token;
use super::super::tree::{Body, Function, FunctionKind, Linkage, Signature};
use super::{Detail, Parsed, Parser};

impl<'a> Parser<'a> {
    /// From `.entry` or `.func` to the end of the body, or to `;`.
    pub(super) fn function(&mut self, linkage: Linkage) -> Parsed<()> {
        let kind = match self.token() {
            Token::Dotted("entry") => FunctionKind::Entry,
            _ => FunctionKind::Device,
        };
        self.advance();
        let mut signature = Signature::default();
        if self.token() == Token::Dotted("attribute") {
            self.advance();
            self.attributes()?;
        }
        if self.token() == Token::Mark('(') {
            signature.returns = self.parameter_list()?;
        }
        let place = self.place();
        let name = self.word("the name of a function")?;
        if self.token() == Token::Mark('(') {
            signature.parameters = self.parameter_list()?;
        }
        let directives = self.performance_directives(&mut signature)?;
        let mut function = Function {
            place,
            linkage,
            kind,
            name,
            signature,
            directives,
            end: self.place(),
            body: None,
        };
        if !self.accept(';') {
            self.expect('{')?;
            let mut body = Body::default();
            function.end = match self.detail {
                Detail::Full => self.statements(&mut body),
                Detail::Outline => self.outline_body(&mut body),
            };
            function.body = Some(body);
        }
        self.tree.functions.push(function);
        Ok(())
    }

    /// `.maxntid 128, 1, 1`, `.noreturn`, `.explicitcluster` …: a word and numbers.
    fn performance_directives(
        &mut self,
        signature: &mut Signature<'a>,
    ) -> Parsed<Vec<(&'a str, Vec<u64>)>> {
        let mut directives = Vec::new();
        while let Token::Dotted(word) = self.token() {
            match word {
                "noreturn" => {
                    self.advance();
                    signature.never_returns = true;
                }
                "pragma" => self.pragma()?,
                "attribute" => {
                    self.advance();
                    self.attributes()?;
                }
                _ => {
                    self.advance();
                    directives.push((word, self.numbers()?));
                }
            }
        }
        Ok(directives)
    }

    fn numbers(&mut self) -> Parsed<Vec<u64>> {
        let mut numbers = Vec::new();
        while let Token::Integer(value) = self.token() {
            self.advance();
            numbers.push(value);
            if !self.accept(',') {
                break;
            }
        }
        Ok(numbers)
    }
}
