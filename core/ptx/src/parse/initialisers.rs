//! Initialisers: numbers, `symbol+offset`, `generic(symbol)`, `0xFF00(symbol)`, in any nesting of braces.
//!
//! PTX ISA, section 5.4.4 "Initializers".

use super::super::token::Token;
use super::super::tree::{Declaration, Initial, InitialValue, Literal};
use super::{Parsed, Parser};

impl<'a> Parser<'a> {
    /// The initialiser after `=`. Elements are numbered in memory order: an inner brace that closes early leaves the
    /// rest of its row zero.
    pub(super) fn initialiser(&mut self, declaration: &mut Declaration<'a>) -> Parsed<()> {
        let mut index = 0_u64;
        let mut depth = 0_usize;
        loop {
            while self.accept('{') {
                depth += 1;
            }
            if self.token() != Token::Mark('}') {
                let place = self.place();
                let value = self.initial_value()?;
                declaration.initial.push(Initial { place, index, value });
                index = index.saturating_add(1);
            }
            while depth > 0 && self.accept('}') {
                depth -= 1;
                let row = row_length(declaration, depth);
                if depth > 0 && row > 0 {
                    index = index.checked_next_multiple_of(row).unwrap_or(u64::MAX);
                }
            }
            if depth == 0 {
                return Ok(());
            }
            self.expect(',')?;
        }
    }

    fn initial_value(&mut self) -> Parsed<InitialValue<'a>> {
        match self.token() {
            Token::Word("generic") if self.ahead.token == Token::Mark('(') => {
                self.advance();
                self.parenthesised_symbol(true, None)
            }
            Token::Word(name) => {
                self.advance();
                let offset = self.offset()?;
                Ok(InitialValue::Symbol { name, offset, generic: false, mask: None })
            }
            _ => {
                let literal = self.literal()?;
                match literal {
                    Literal::Integer(mask) if self.token() == Token::Mark('(') => {
                        self.parenthesised_symbol(false, Some(mask as u64))
                    }
                    Literal::Integer(_) | Literal::Single(_) | Literal::Double(_) => {
                        Ok(InitialValue::Literal(literal))
                    }
                }
            }
        }
    }

    /// `(symbol+offset)`, `(symbol)+offset` and `(generic(symbol)+offset)`.
    fn parenthesised_symbol(
        &mut self,
        generic: bool,
        mask: Option<u64>,
    ) -> Parsed<InitialValue<'a>> {
        self.expect('(')?;
        let mut generic = generic;
        let mut name = self.word("a variable or function")?;
        if name == "generic" && self.accept('(') {
            generic = true;
            name = self.word("a variable or function")?;
            self.expect(')')?;
        }
        let inner = self.offset()?;
        self.expect(')')?;
        let offset = inner.wrapping_add(self.offset()?);
        Ok(InitialValue::Symbol { name, offset, generic, mask })
    }
}

/// The number of elements of one brace at this depth: the product of the inner dimensions and the vector width.
fn row_length(declaration: &Declaration<'_>, depth: usize) -> u64 {
    let inner = declaration.dimensions.get(depth..).unwrap_or_default();
    inner.iter().fold(u64::from(declaration.vector), |product, size| product.saturating_mul(*size))
}
