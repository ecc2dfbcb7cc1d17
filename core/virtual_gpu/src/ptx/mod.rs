//! The PTX parser: tokens and syntax tree.

pub mod parse;
pub(crate) mod token;
pub mod tree;
