//! Parses tokens to a tree, by precedence climbing.

use std::ops::Range;

use super::{
    Binary, ExpressionError, Function, MAX_ACTIVE_BLOCKS, MAX_BYTES, MAX_DEPTH, Node, NodeKind,
    Reason, Unary,
    token::{Token, Word, tokens},
};
use crate::nearest::nearest;

/// Below every operator.
const LOWEST: u8 = 0;
/// Between `and` and the comparisons.
const NOT: u8 = 3;
/// Between the products and `**`.
const NEGATE: u8 = 7;

pub(super) fn parse(text: &str) -> Result<Node, ExpressionError> {
    if text.len() > MAX_BYTES {
        return Err(ExpressionError::new(0..text.len(), Reason::TooLong { bytes: text.len() }));
    }
    let mut parser = Parser { tokens: tokens(text)?, at: 0, end: text.len(), depth: 0 };
    if parser.tokens.is_empty() {
        return Err(ExpressionError::new(0..text.len(), Reason::Empty));
    }
    let root = parser.binary(LOWEST)?;
    match parser.tokens.get(parser.at) {
        None => Ok(root),
        Some(token) => Err(unexpected(token, "an operator or the end")),
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    end: usize,
    depth: usize,
}

impl Parser {
    /// An operand followed by operators that bind at least as tightly as `lowest`.
    fn binary(&mut self, lowest: u8) -> Result<Node, ExpressionError> {
        let mut left = self.nested(Self::operand)?;
        let mut compared = false;
        while let Some((operator, span)) = self.peek_operator() {
            let precedence = operator.precedence();
            if precedence < lowest {
                break;
            }
            if operator.is_comparison() && compared {
                return Err(ExpressionError::new(span, Reason::ChainedComparison));
            }
            compared = operator.is_comparison();
            self.at += 1;
            // `**` is right associative and takes a signed exponent; all others are left associative.
            let right = if operator == Binary::Power {
                self.nested(|parser| parser.binary(NEGATE))?
            } else {
                self.nested(|parser| parser.binary(precedence + 1))?
            };
            let span = left.span.start..right.span.end;
            left = Node { span, kind: NodeKind::Binary(operator, Box::new(left), Box::new(right)) };
        }
        Ok(left)
    }

    fn operand(&mut self) -> Result<Node, ExpressionError> {
        const EXPECTED: &str = "a number, a name or `(`";
        let Some(token) = self.tokens.get(self.at).cloned() else {
            return Err(self.ended(EXPECTED));
        };
        self.at += 1;
        let span = token.span.clone();
        match token.word {
            Word::Integer(value) => Ok(Node { span, kind: NodeKind::Integer(value) }),
            Word::Decimal(value) => Ok(Node { span, kind: NodeKind::Decimal(value) }),
            Word::Name(name) if self.peek_is(&Word::Open) => self.call(&name, span),
            Word::Name(name) => Ok(Node { span, kind: NodeKind::Name(name) }),
            Word::Not => self.unary(Unary::Not, NOT, span.start),
            Word::Operator(Binary::Subtract) => self.unary(Unary::Negate, NEGATE, span.start),
            Word::Open => {
                let mut inner = self.binary(LOWEST)?;
                let close = self.close()?;
                inner.span = span.start..close;
                Ok(inner)
            }
            Word::Operator(_) | Word::Text(_) | Word::Close | Word::Comma => {
                Err(unexpected(&token, EXPECTED))
            }
        }
    }

    fn unary(
        &mut self,
        operator: Unary,
        precedence: u8,
        start: usize,
    ) -> Result<Node, ExpressionError> {
        let operand = self.binary(precedence)?;
        Ok(Node {
            span: start..operand.span.end,
            kind: NodeKind::Unary(operator, Box::new(operand)),
        })
    }

    fn call(&mut self, name: &str, span: Range<usize>) -> Result<Node, ExpressionError> {
        self.at += 1;
        if name == MAX_ACTIVE_BLOCKS {
            return self.max_active_blocks(span.start);
        }
        let Some(function) = Function::ALL.into_iter().find(|function| function.name() == name)
        else {
            return Err(ExpressionError::new(span, unknown_function(name)));
        };
        let mut arguments = Vec::new();
        if !self.peek_is(&Word::Close) {
            arguments.push(self.binary(LOWEST)?);
            while self.peek_is(&Word::Comma) {
                self.at += 1;
                arguments.push(self.binary(LOWEST)?);
            }
        }
        let span = span.start..self.close()?;
        let (fewest, most) = function.arity();
        if arguments.len() < fewest || arguments.len() > most {
            let reason = Reason::WrongArgumentCount {
                function: function.name(),
                found: arguments.len(),
                expected: fewest,
            };
            return Err(ExpressionError::new(span, reason));
        }
        Ok(Node { span, kind: NodeKind::Call(function, arguments) })
    }

    fn max_active_blocks(&mut self, start: usize) -> Result<Node, ExpressionError> {
        const EXPECTED: &str = "the name of a kernel in quotes";
        let kernel = match self.tokens.get(self.at) {
            Some(Token { word: Word::Text(kernel), .. }) => kernel.clone(),
            Some(token) => return Err(unexpected(token, EXPECTED)),
            None => return Err(self.ended(EXPECTED)),
        };
        self.at += 1;
        let span = start..self.close()?;
        Ok(Node { span, kind: NodeKind::MaxActiveBlocks(kernel) })
    }

    /// Consumes a `)` and returns its end.
    fn close(&mut self) -> Result<usize, ExpressionError> {
        const EXPECTED: &str = "`)`";
        match self.tokens.get(self.at) {
            Some(Token { word: Word::Close, span }) => {
                self.at += 1;
                Ok(span.end)
            }
            Some(token) => Err(unexpected(token, EXPECTED)),
            None => Err(self.ended(EXPECTED)),
        }
    }

    fn nested(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<Node, ExpressionError>,
    ) -> Result<Node, ExpressionError> {
        // Two levels of calls for each level of nesting that a person sees.
        if self.depth >= 2 * MAX_DEPTH {
            let span =
                self.tokens.get(self.at).map_or(self.end..self.end, |token| token.span.clone());
            return Err(ExpressionError::new(span, Reason::TooDeep));
        }
        self.depth += 1;
        let node = parse(self);
        self.depth -= 1;
        node
    }

    fn peek_is(&self, word: &Word) -> bool {
        self.tokens.get(self.at).is_some_and(|token| token.word == *word)
    }

    fn peek_operator(&self) -> Option<(Binary, Range<usize>)> {
        match self.tokens.get(self.at)? {
            Token { word: Word::Operator(operator), span } => Some((*operator, span.clone())),
            Token { .. } => None,
        }
    }

    fn ended(&self, expected: &'static str) -> ExpressionError {
        ExpressionError::new(self.end..self.end, Reason::UnexpectedEnd { expected })
    }
}

fn unexpected(token: &Token, expected: &'static str) -> ExpressionError {
    let found = token.word.describe();
    ExpressionError::new(token.span.clone(), Reason::Unexpected { found, expected })
}

fn unknown_function(name: &str) -> Reason {
    let mut known: Vec<String> =
        Function::ALL.iter().map(|function| function.name().to_owned()).collect();
    known.push(MAX_ACTIVE_BLOCKS.to_owned());
    let nearest = nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
    Reason::UnknownFunction { name: name.to_owned(), nearest, known }
}
