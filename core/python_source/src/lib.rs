//! Reads one Python file with the Python grammar, without executing it.
//!
//! ```text
//!  text ──► tree-sitter ──► Module (statements and expressions of our own) ──► functions, classes, calls
//!                                    └──► Constants (values of module-level names)
//! ```
//!
//! The text is foreign: nothing here panics, the time is at most proportional to the length of the text, and what is
//! nested deeper than [`DEEPEST`] levels becomes [`ExpressionKind::Other`] or [`StatementKind::Other`], so that readers
//! of the tree may be recursive. Parts of Python that no reader needs become `Other` too: they are refused where they
//! are used, not where they are read.

mod arithmetic;
mod constants;
mod error;
mod expression;
mod literal;
mod module;
mod parse;
mod statement;
pub mod syntax;
mod walk;

#[cfg(test)]
mod tests;

pub use constants::{Constants, Value};
pub use error::SourceError;
pub use module::Module;
pub use parse::DEEPEST;
pub use syntax::{
    Argument, BinaryOperator, Call, Class, Comparison, Expression, ExpressionKind, Function,
    Import, Parameter, ParameterKind, Statement, StatementKind, UnaryOperator,
};
