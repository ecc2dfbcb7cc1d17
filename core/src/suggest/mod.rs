//! What proposes candidates from what is known of a kernel.

pub mod rewrite;
