//! Verifies that a candidate computes what its project defines, on fresh inputs and without cheating.
//!
//! ```text
//!  verification: the steps in their order                                  (this process)
//!     │ requests: a case, a program, an input specification; never a tensor
//!     ├──► device_workers ──► device_session of the candidate: inputs ──► launches ──► outputs  (a process)
//!     │                                                                           │ a folder
//!     └──► device_workers ──► device_session of the reference: inputs ──► launches ──► compare  (another process)
//! ```
//!
//! A [`Case`](lightbench_tensors::Case) is a workload with every number known; its inputs are the same bytes for the
//! same recipe on every machine, and comparisons are pure ([`lightbench_tensors`]). A failed check is a
//! [`verdict::Failure`]; the reason why the verifier could not judge a candidate is a [`not_judged::NotJudged`]. Only a
//! candidate that passed has times.

pub mod baseline;
mod checkers;
pub mod compiled_candidate;
pub mod device_protocol;
pub mod device_session;
pub mod device_worker;
pub mod device_workers;
pub mod evidence;
pub mod fault_report;
pub mod harness_kernels;
pub mod library;
pub mod not_judged;
pub mod program;
pub mod reference_source;
pub mod sanitizer;
pub mod sentence;
pub mod verdict;
pub mod verification;

mod output_exchange;
mod python_results;
pub mod pytorch_call;
mod rehearsal;
mod workload_line;
