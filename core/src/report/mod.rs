//! A project's runs as a one-page report for readers who did not run them.
//!
//! [`Page`] is the content; [`html()`] and [`markdown()`] are its formats. This module reads no file and no clock.

mod figures;
mod html;
mod markdown;
mod page;

#[cfg(test)]
mod bound_fractions;
#[cfg(test)]
mod tests;

pub use figures::Picture;
pub use html::{PageError, html};
pub use markdown::markdown;
pub use page::Page;
