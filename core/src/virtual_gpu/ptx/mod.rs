//! PTX as text: tokens, and the tree that they make.

pub(crate) mod parse;
pub(crate) mod token;
pub(crate) mod tree;
