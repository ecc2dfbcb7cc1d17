//! Results for readers outside the program: documents for scripts, and a one-page report of a project's runs.
//!
//! [`document`] has the types behind `--json`, [`evidence`] what a history keeps of a run. [`Page`] is the content of a report; [`html()`] and [`markdown()`] are
//! its formats. This module reads no file and no clock.

pub mod document;
pub mod evidence;
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
