//! What proposes candidates from what is known of a kernel.

pub mod descriptor;
pub mod knowledge;
pub mod model;
pub mod prompt;
pub mod rewrite;
pub mod trajectory;
pub mod tuned;
