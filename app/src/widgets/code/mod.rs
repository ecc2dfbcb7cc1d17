//! Source text widgets: editor, listing, diff. They are independent of the rest of the window.

pub mod bracket;
pub mod change;
pub mod completion;
pub mod diff;
pub mod edit;
pub mod editor;
pub mod find;
pub mod heat_colors;
pub mod highlight;
pub mod line_index;
pub mod listing;
pub mod marks;
pub mod paint;
pub mod syntax;
pub mod undo;
pub mod word_boundaries;
