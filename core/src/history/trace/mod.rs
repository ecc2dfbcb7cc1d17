//! Runs as traces of the SOL-ExecBench and FlashInfer-Bench schema, and back.
//!
//! A trace is one workload of a run. What the schema has no place for is lost on the way, and never replaced by
//! something that looks like it: `docs/traces.md` lists it field by field.

mod export;
mod import;
mod schema;
#[cfg(test)]
mod tests;

pub use export::{Exported, Omission, export};
pub use import::{Import, LineProblem, TraceError, import};
