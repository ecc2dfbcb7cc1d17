//! Declarations: `.global .align 4 .b8 table[12] = {…};`, `.reg .b32 %r<17>;`, `.param .u64 .ptr .global p`.
//!
//! PTX ISA, sections 5.1 "State Spaces" to 5.4 "Variables".

use super::super::token::Token;
use super::super::tree::{Declaration, Linkage, PointerHint};
use super::{Detail, Parsed, Parser};

/// The part of a declaration before the names, shared by all names of a directive.
#[derive(Clone, Copy)]
struct Prefix<'a> {
    linkage: Linkage,
    space: &'a str,
    align: Option<u64>,
    vector: u32,
    element: &'a str,
    pointer: Option<PointerHint<'a>>,
}

const SPACES: &[&str] = &["reg", "const", "global", "local", "param", "shared"];

impl<'a> Parser<'a> {
    /// A declaration of one or more names, with its `;`.
    pub(super) fn declaration(&mut self, linkage: Linkage) -> Parsed<Vec<Declaration<'a>>> {
        let prefix = self.declaration_prefix(linkage)?;
        let mut declarations = Vec::with_capacity(1);
        loop {
            let mut declaration = self.declared_name(prefix)?;
            if self.accept('=') {
                match self.detail {
                    Detail::Full => self.initialiser(&mut declaration)?,
                    Detail::Outline => self.skip_initialiser(),
                }
            }
            declarations.push(declaration);
            if !self.accept(',') {
                break;
            }
        }
        self.expect(';')?;
        Ok(declarations)
    }

    /// `(…)` of a function or prototype.
    pub(super) fn parameter_list(&mut self) -> Parsed<Vec<Declaration<'a>>> {
        self.expect('(')?;
        let mut parameters = Vec::new();
        if self.accept(')') {
            return Ok(parameters);
        }
        loop {
            let prefix = self.declaration_prefix(Linkage::Internal)?;
            parameters.push(self.declared_name(prefix)?);
            if !self.accept(',') {
                break;
            }
        }
        self.expect(')')?;
        Ok(parameters)
    }

    fn declaration_prefix(&mut self, linkage: Linkage) -> Parsed<Prefix<'a>> {
        let Token::Dotted(space) = self.token() else {
            return Err(self.unexpected("a directive, a state space or an instruction"));
        };
        if !SPACES.contains(&space) {
            return Err(self.unexpected("a directive or a state space"));
        }
        self.advance();
        let mut prefix =
            Prefix { linkage, space, align: None, vector: 1, element: "", pointer: None };
        while let Token::Dotted(word) = self.token() {
            match word {
                "align" => {
                    self.advance();
                    let align = self.unsigned("an alignment")?;
                    match &mut prefix.pointer {
                        Some(pointer) => pointer.align = Some(align),
                        None => prefix.align = Some(align),
                    }
                    continue;
                }
                "attribute" => {
                    self.advance();
                    self.attributes()?;
                    continue;
                }
                "v2" => prefix.vector = 2,
                "v4" => prefix.vector = 4,
                "v8" => prefix.vector = 8,
                "ptr" => prefix.pointer = Some(PointerHint { space: None, align: None }),
                space if SPACES.contains(&space) => match &mut prefix.pointer {
                    Some(pointer) => pointer.space = Some(space),
                    None => return Err(self.unexpected("a type")),
                },
                element => prefix.element = element,
            }
            self.advance();
        }
        if prefix.element.is_empty() { Err(self.unexpected("a type")) } else { Ok(prefix) }
    }

    /// `.attribute(.managed)`, `.attribute(.unified(1, 2))`: placement of memory, without effect on its content.
    pub(super) fn attributes(&mut self) -> Parsed<()> {
        self.expect('(')?;
        let mut depth = 1_u32;
        while depth > 0 {
            match self.token() {
                Token::Mark('(') => depth += 1,
                Token::Mark(')') => depth -= 1,
                Token::Mark(';' | '{' | '}') | Token::End => return Err(self.unexpected("`)`")),
                _ => {}
            }
            self.advance();
        }
        Ok(())
    }

    fn declared_name(&mut self, prefix: Prefix<'a>) -> Parsed<Declaration<'a>> {
        let place = self.place();
        let name = self.word("a name")?;
        let mut range = None;
        if self.accept('<') {
            range = Some(self.unsigned("a number of registers")?);
            self.expect('>')?;
        }
        let mut dimensions = Vec::new();
        while self.accept('[') {
            if self.accept(']') {
                dimensions.push(0);
                continue;
            }
            dimensions.push(self.unsigned("a number of elements")?);
            self.expect(']')?;
        }
        let Prefix { linkage, space, align, vector, element, pointer } = prefix;
        let initial = Vec::new();
        Ok(Declaration {
            place,
            linkage,
            space,
            align,
            vector,
            element,
            name,
            range,
            dimensions,
            initial,
            pointer,
        })
    }
}
