//! Statements of a body: scopes, declarations, labels, line information, instructions.

use super::super::token::{PtxLocation, Token};
use super::super::tree::{
    Body, Guard, Instruction, Location, Operand, Position, Signature, Statement, Unsupported,
};
use super::{Parsed, Parser};

impl<'a> Parser<'a> {
    /// All statements up to the closing brace of the body; the location of that brace, or of the end of the text.
    pub(super) fn statements(&mut self, body: &mut Body<'a>) -> PtxLocation {
        let mut depth = 0_u32;
        while !self.exhausted() {
            match self.token() {
                Token::Mark('{') => {
                    depth += 1;
                    body.statements.push(Statement::Open(self.place()));
                    self.advance();
                }
                Token::Mark('}') => {
                    let place = self.place();
                    self.advance();
                    if depth == 0 {
                        return place;
                    }
                    depth -= 1;
                    body.statements.push(Statement::Close);
                }
                Token::End => {
                    let error = self.unexpected("`}` at the end of a function");
                    self.report(error);
                    break;
                }
                _ => {
                    if let Err(error) = self.statement(body) {
                        self.report(error);
                        self.recover_in_body();
                    }
                }
            }
        }
        self.place()
    }

    fn statement(&mut self, body: &mut Body<'a>) -> Parsed<()> {
        match self.token() {
            Token::Mark(';') => self.advance(),
            Token::Dotted("loc") => {
                let place = self.place();
                let location = self.location()?;
                body.statements.push(Statement::Location(location, place));
            }
            Token::Dotted("pragma") => self.pragma()?,
            Token::Dotted("file") => self.file()?,
            Token::Dotted(_) => {
                let linkage = self.linkage();
                let declarations = self.declaration(linkage)?;
                let boxed = declarations.into_iter().map(Box::new);
                body.statements.extend(boxed.map(Statement::Declaration));
            }
            Token::Word(name) if self.ahead.token == Token::Mark(':') => {
                self.labelled(name, body)?;
            }
            Token::Word(_) | Token::Mark('@') => {
                self.instruction(body)?;
            }
            _ => return Err(self.unexpected("an instruction, a directive or a label")),
        }
        Ok(())
    }

    /// A label, or a list with a label as its name.
    fn labelled(&mut self, name: &'a str, body: &mut Body<'a>) -> Parsed<()> {
        let place = self.place();
        self.advance();
        self.advance();
        let statement = match self.token() {
            Token::Dotted("callprototype") => {
                self.advance();
                let signature = Box::new(self.prototype()?);
                Statement::Prototype { name, place, signature }
            }
            Token::Dotted("branchtargets") => {
                Statement::BranchTargets { name, place, labels: self.target_names()? }
            }
            Token::Dotted("calltargets") => {
                Statement::CallTargets { name, place, functions: self.target_names()? }
            }
            _ => Statement::Label(name, place),
        };
        body.statements.push(statement);
        Ok(())
    }

    /// The names after `.branchtargets` or `.calltargets`, with the final `;`.
    fn target_names(&mut self) -> Parsed<Vec<&'a str>> {
        self.advance();
        let mut names = vec![self.word("a label or function")?];
        while self.accept(',') {
            names.push(self.word("a label or function")?);
        }
        self.expect(';')?;
        Ok(names)
    }

    /// `(.param .b32 _) _ (.param .b64 _) .noreturn;`
    fn prototype(&mut self) -> Parsed<Signature<'a>> {
        let mut signature = Signature::default();
        if self.token() == Token::Mark('(') {
            signature.returns = self.parameter_list()?;
        }
        self.word("`_`")?;
        if self.token() == Token::Mark('(') {
            signature.parameters = self.parameter_list()?;
        }
        while let Token::Dotted(word) = self.token() {
            signature.never_returns |= word == "noreturn";
            self.advance();
            while let Token::Integer(_) = self.token() {
                self.advance();
            }
        }
        self.expect(';')?;
        Ok(signature)
    }

    /// `.loc 1 16 25, function_name $L__info_string0, inlined_at 1 18 3`
    pub(super) fn location(&mut self) -> Parsed<Location<'a>> {
        self.advance();
        let position = self.position()?;
        let mut name = None;
        let mut inlined = None;
        while self.accept(',') {
            match self.word("`function_name` or `inlined_at`")? {
                "function_name" => {
                    name = Some(self.word("a label")?);
                    self.offset()?;
                }
                "inlined_at" => inlined = Some(self.position()?),
                _ => return Err(self.unexpected("`function_name` or `inlined_at`")),
            }
        }
        Ok(Location { position, inlined: name.zip(inlined) })
    }

    fn position(&mut self) -> Parsed<Position> {
        let file = self.unsigned("the number of a file")? as u32;
        let line = self.unsigned("a line")? as u32;
        let column = self.unsigned("a column")? as u32;
        Ok(Position { file, line, column })
    }

    fn instruction(&mut self, body: &mut Body<'a>) -> Parsed<()> {
        let start = self.current;
        let guard = self.guard()?;
        let place = self.place();
        let opcode = self.word("an instruction")?;
        let first = body.modifiers.len() as u32;
        while let Token::Dotted(modifier) = self.token() {
            body.modifiers.push(modifier);
            self.advance();
        }
        let modifiers = (first, body.modifiers.len() as u32);
        match self.operands() {
            Ok(operands) => {
                let instruction = Instruction { place, guard, opcode, modifiers, operands };
                body.statements.push(Statement::Instruction(instruction));
            }
            Err(error) => {
                self.unsupported += 1;
                let text = self.skip_statement(&start, &mut Vec::new());
                let unsupported = Unsupported { place, text, opcode, modifiers, error };
                body.statements.push(Statement::Unsupported(Box::new(unsupported)));
            }
        }
        Ok(())
    }

    /// The operands of an instruction, with its `;`.
    fn operands(&mut self) -> Parsed<Vec<(Operand<'a>, PtxLocation)>> {
        let mut operands = Vec::new();
        if self.token() != Token::Mark(';') {
            operands.reserve_exact(4);
            loop {
                let place = self.place();
                operands.push((self.operand()?, place));
                if !self.accept(',') {
                    break;
                }
            }
        }
        self.expect(';')?;
        Ok(operands)
    }

    fn guard(&mut self) -> Parsed<Option<Guard<'a>>> {
        if !self.accept('@') {
            return Ok(None);
        }
        let negated = self.accept('!');
        let place = self.place();
        let predicate = self.word("a predicate")?;
        Ok(Some(Guard { place, predicate, negated }))
    }

    /// Skips the rest of an invalid statement; the loop over statements handles braces.
    pub(super) fn recover_in_body(&mut self) {
        loop {
            match self.token() {
                Token::End | Token::Mark('{' | '}') => return,
                Token::Mark(';') => {
                    self.advance();
                    return;
                }
                _ => self.advance(),
            }
        }
    }
}
