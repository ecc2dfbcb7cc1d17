//! Operands of instructions. PTX ISA, section 6 "Instruction Operands".

use super::super::error::SyntaxError;
use super::super::token::Token;
use super::super::tree::{Address, Literal, Operand};
use super::{Parsed, Parser};

impl<'a> Parser<'a> {
    pub(super) fn operand(&mut self) -> Parsed<Operand<'a>> {
        match self.token() {
            Token::Mark('[') => self.address(),
            Token::Mark('{') => {
                self.advance();
                self.elements('}').map(Operand::Vector)
            }
            Token::Mark('(') => {
                self.advance();
                self.elements(')').map(Operand::Group)
            }
            _ => self.simple_operand(),
        }
    }

    /// The elements of a vector or of a call's group, up to the closing character.
    fn elements(&mut self, close: char) -> Parsed<Vec<Operand<'a>>> {
        let mut elements = Vec::new();
        if self.accept(close) {
            return Ok(elements);
        }
        loop {
            elements.push(self.simple_operand()?);
            if !self.accept(',') {
                break;
            }
        }
        self.expect(close)?;
        Ok(elements)
    }

    /// An operand without brackets.
    fn simple_operand(&mut self) -> Parsed<Operand<'a>> {
        match self.token() {
            Token::Word(name) => {
                self.advance();
                self.after_name(name)
            }
            Token::Mark('!') => {
                self.advance();
                self.word("a predicate").map(Operand::Not)
            }
            Token::Mark('-') if matches!(self.ahead.token, Token::Word(_)) => {
                self.advance();
                let name = self.word("a register")?;
                let mut component = None;
                if let Token::Dotted(word) = self.token() {
                    self.advance();
                    component = Some(word);
                }
                Ok(Operand::Negative { name, component })
            }
            Token::Mark('~') => {
                self.advance();
                match self.literal()? {
                    Literal::Integer(value) => Ok(Operand::Literal(Literal::Integer(!value))),
                    Literal::Single(_) | Literal::Double(_) => Err(self.unexpected("an integer")),
                }
            }
            _ => self.literal().map(Operand::Literal).map_err(|error| SyntaxError {
                place: error.place,
                ..self.unexpected("an operand")
            }),
        }
    }

    fn after_name(&mut self, name: &'a str) -> Parsed<Operand<'a>> {
        match self.token() {
            Token::Mark('|') => {
                self.advance();
                let second = self.word("a predicate")?;
                Ok(Operand::Pair(name, second))
            }
            Token::Dotted(component) => {
                self.advance();
                Ok(Operand::Component { name, component })
            }
            Token::Mark('+' | '-') => {
                let offset = self.offset()?;
                Ok(Operand::Name { name, offset })
            }
            _ => Ok(Operand::Name { name, offset: 0 }),
        }
    }

    /// `[base]`, `[base+offset]`, `[offset]`, `[tensor, {x, y}]`. Vectors hold simple operands, so that addresses do not
    /// nest.
    fn address(&mut self) -> Parsed<Operand<'a>> {
        self.advance();
        let mut base = None;
        if let Token::Word(name) = self.token() {
            base = Some(name);
            self.advance();
        }
        let offset = match base {
            Some(_) => self.offset()?,
            None => match self.literal()? {
                Literal::Integer(value) => value,
                Literal::Single(_) | Literal::Double(_) => {
                    return Err(self.unexpected("an address"));
                }
            },
        };
        let mut coordinates = Vec::new();
        while self.accept(',') {
            coordinates.push(if self.accept('{') {
                self.elements('}').map(Operand::Vector)?
            } else {
                self.simple_operand()?
            });
        }
        self.expect(']')?;
        Ok(Operand::Address(Address { base, offset, coordinates }))
    }
}
