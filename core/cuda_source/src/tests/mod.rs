//! Signatures in the styles that people write them, conditionals and macros in the middle of them, and hostile texts.

mod foreign;
mod hostile;
mod kernel;
