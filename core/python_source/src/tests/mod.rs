//! Python text and what was read from it.

mod constants;
mod hostile;
mod syntax;
