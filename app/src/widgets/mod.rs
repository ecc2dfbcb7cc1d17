//! Parts that panels are made of. They draw what they are given, and say what was done with them.

pub mod code;
pub mod figure;
pub mod icon;
