//! The Model Context Protocol on standard input and output: calls of an agent come in, sealed documents go out.
//!
//! ```text
//!  agent ── JSON-RPC ──► ServerThread ── Call ──► bounded queue ──► the program
//!    ▲                    one thread, one runtime                     │
//!    └───────────────────────── render ◄── Answer ◄── Reply ──────────┘
//! ```
//!
//! This crate knows no kernels. It makes two promises about every result, whatever the program answers: text that the
//! program did not write stands in fields named `untrusted_…` only ([`untrusted`]), and no result exceeds 32 KiB
//! ([`page`]).

mod answer;
mod call;
pub mod page;
mod server;
#[cfg(test)]
mod tests;
mod tool;
pub mod untrusted;

pub use answer::{Answer, State};
pub use call::{Call, Reply};
pub use server::{ServerError, ServerThread};
pub use tool::{Effect, Tool};
