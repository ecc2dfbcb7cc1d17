//! What proposes candidates from what is known of a kernel.

pub mod descriptor;
pub mod knowledge;
pub mod rewrite;
pub mod tuned;
