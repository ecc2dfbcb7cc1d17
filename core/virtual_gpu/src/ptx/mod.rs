//! PTX as text: tokens, and the tree that they make.

pub mod parse;
pub(crate) mod token;
pub mod tree;
