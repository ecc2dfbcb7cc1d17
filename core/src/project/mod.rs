//! The on-disk project format: what was written, what it means, and the one step between that checks.

pub mod environment;
pub mod expression;
pub mod nearest;
