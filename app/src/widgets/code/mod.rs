//! Source text: edited, listed, compared. These know nothing of the rest of the window.

pub mod highlight;
pub mod syntax;
