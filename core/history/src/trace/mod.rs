//! Runs as traces of the SOL-ExecBench and FlashInfer-Bench schema, and back.
//!
//! A trace is one workload of a run. Fields without a counterpart in the schema are lost in the export and are never
//! replaced by a similar field: `docs/traces.md` lists them.

mod export;
mod import;
mod schema;
#[cfg(test)]
mod tests;

pub use export::{Exported, Omission, export};
pub use import::{Import, LineProblem, TraceError, import};
