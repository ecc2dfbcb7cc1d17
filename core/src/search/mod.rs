//! Search for a faster kernel: operators propose variants, strategies choose which variant to change next, and a journal
//! stores every step.
//!
//! ```text
//!  SearchSetup ──► SearchState ──► Strategy::choose ──► Operator ──► Proposal ──► CandidateRunner ──► Decision
//!                       ▲                                rule, tuner, model     screen, evaluate,        │
//!                       └───────────── Entry ◄── Journal ◄───────────────────── compare ◄───────────────┘
//! ```
//!
//! Every step is an [`Entry`], which is written to the journal before listeners receive it. [`SearchState`] is computed from
//! the entries alone, so that a search continues from its journal after a kill, and the window shows the state that the
//! search itself uses. The module starts no threads. A [`CandidateRunner`] runs the kernels: an engine, or the script of a
//! test.

pub mod budget;
mod by_shape;
pub mod candidate_runner;
pub mod cost;
pub mod entry;
pub mod explore;
pub mod journal;
mod journal_writer;
pub mod model;
pub mod operators;
pub mod prompt;
pub mod replay;
pub mod roles;
mod rule_actions;
pub mod rules;
pub mod space;
pub mod state;
#[cfg(test)]
mod tests;
pub mod trajectory;
mod tuning;
mod unanswered_models;

pub use budget::Budget;
pub use candidate_runner::{CandidateRunner, Control, Interrupted, Pace};
pub use entry::{Decision, Entry, Header, Proposal, ScreeningResult, Verdict, WorkloadTime};
pub use explore::{Explorer, FinishedRun, PROGRAM, RunListener, SearchListeners, SearchSetup};
pub use journal::{Journal, JournalError};
pub use journal_writer::EntryListener;
pub use state::{SearchState, Variant};
pub use unanswered_models::UnansweredModel;
