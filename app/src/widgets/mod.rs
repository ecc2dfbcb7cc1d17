//! Widgets of the panels. They draw the data they are given and return what the user did.

pub mod code;
pub mod figure;
pub mod icon;
