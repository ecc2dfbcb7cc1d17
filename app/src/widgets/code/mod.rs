//! Source text: edited, listed, compared. These know nothing of the rest of the window.

pub mod bracket;
pub mod change;
pub mod completion;
pub mod diff;
pub mod edit;
pub mod editor;
pub mod find;
pub mod highlight;
pub mod line_index;
pub mod listing;
pub mod marks;
pub mod paint;
pub mod ramp;
pub mod syntax;
pub mod undo;
pub mod words;
