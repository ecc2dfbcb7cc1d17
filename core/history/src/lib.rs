//! The history of a project: every evaluation with its candidate, device and result.
//!
//! ```text
//!  evaluate::Run ──► RunRecord ──► Store::append ──► .lightbench/history.db ──► query, lineage ──► people
//!                       ▲                                   │
//!       traces from elsewhere (recorded, never best)        └──► trace, table: exports
//! ```
//!
//! A run is appended and never edited. Runs of this machine are sealed with a key that only this machine has
//! ([`machine`]); all other runs of a history are *recorded*: they are shown, and are never best, previous or baseline.

pub mod comparison_runs;
pub mod damage;
pub mod definition_hash;
mod error;
mod file_system;
pub mod label;
pub mod lineage;
pub mod location;
pub mod machine;
pub mod numbers;
pub mod open;
pub mod query;
pub mod record;
pub mod restore;
mod salvage;
mod schema;
mod sidecar;
pub mod store;
pub mod table;
pub mod text;
pub mod timing;
pub mod trace;

#[cfg(any(test, feature = "testing"))]
pub mod fixture;
#[cfg(test)]
mod tests;

pub use damage::DamagedRow;
pub use error::HistoryError;
pub use lineage::better;
pub use open::{IntegrityCheck, Notice, OpenedHistory, open, open_and_read};
pub use record::RunRecord;
pub use salvage::Salvaged;
pub use store::{Provenance, RunNumber, Store, StoredRun};
