//! A project's runs as one page, for people who were not there.
//!
//! [`Page`] is what is said, the same in every form; [`html()`] and [`markdown()`] are how. Nothing here reads a file or a
//! clock.

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
