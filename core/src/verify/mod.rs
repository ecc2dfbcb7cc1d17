//! Whether a candidate computes what its project defines, on fresh inputs, and honestly so.
//!
//! ```text
//!  Workload ──► Case      every size, fill and comparator as a number
//!                │ inputs::generate(case, recipe)      Philox: the same bytes on every machine
//!                ▼
//!          candidate runs ──► outputs ──► compare ◄── reference runs, in another process
//! ```

pub mod case;
pub mod compare;
pub mod evidence;
pub mod fault_report;
pub mod inputs;
pub mod program;
pub mod sentence;
pub mod station;
pub mod stations;
pub mod subject;
pub mod verdict;
pub mod verification;

mod element;
#[cfg(test)]
mod fixture;
mod layout;

pub use case::{Case, TensorCase};
pub use layout::LayoutError;
