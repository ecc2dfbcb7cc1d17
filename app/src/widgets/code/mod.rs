//! Source text: edited, listed, compared. These know nothing of the rest of the window.

pub mod bracket;
pub mod change;
pub mod completion;
pub mod edit;
pub mod find;
pub mod highlight;
pub mod line_index;
pub mod marks;
pub mod syntax;
pub mod undo;
pub mod words;
