//! The search: what proposes candidates, what decides which of them to change next, and what is kept of all that.
//!
//! ```text
//!  Order ──► begin ──► Story ──► Strategy::choose ──► Operator ──► Proposal ──► Laboratory ──► Decision
//!                       ▲   what was tried so far       rule, tuner, model       screen, evaluate,   │
//!                       └────────────────────── Entry ◄── Journal ◄──────────── side by side ◄──────┘
//! ```
//!
//! Everything that happens is an [`Entry`]: it is written to the journal before anybody hears of it, and the [`Story`] is
//! what all entries so far amount to. A search that was killed is its journal read again, and the window shows the same
//! story. There are no threads here, and what runs kernels is a [`Laboratory`]: an engine, a recording, a test's script.

pub mod budget;
pub mod cost;
pub mod entry;
pub mod explore;
pub mod features;
pub mod forecast;
pub mod foresight;
pub mod journal;
pub mod laboratory;
pub mod model;
pub mod operators;
pub mod prompt;
pub mod recording;
pub mod roles;
mod scribe;
mod silence;
pub mod space;
pub mod story;
#[cfg(test)]
mod tests;
pub mod trajectory;
mod tune;

pub use budget::Budget;
pub use entry::{Decision, Entry, Header, Look, Proposal, Verdict, WorkloadTime};
pub use explore::{Audience, Explorer, Keeper, Kept, Order, PROGRAM};
pub use forecast::{Course, Forecasting, Foresight};
pub use journal::{Journal, JournalError};
pub use laboratory::{Control, Interrupted, Laboratory, Pace};
pub use scribe::Listener;
pub use silence::Silence;
pub use story::{Story, Variant};
