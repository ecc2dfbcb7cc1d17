//! Whether a candidate computes what its project defines, on fresh inputs, and honestly so.
//!
//! ```text
//!  verification: the steps in their order                                  (this process)
//!     │ orders: a case, a program, a recipe; never a tensor
//!     ├──► stations ──► station, candidate's side: inputs ──► launches ──► outputs     (a process)
//!     │                                                                      │ a folder
//!     └──► stations ──► station, reference's side: inputs ──► launches ──► compare     (another process)
//! ```
//!
//! A [`Case`](lightbench_tensors::Case) is a workload with every number known; its inputs are the same bytes for the same
//! recipe on every machine, and comparisons are pure ([`lightbench_tensors`]). What is wrong with a kernel is a
//! [`verdict::Failure`]; why the verifier could not judge it is a [`not_judged::NotJudged`]. Only a candidate that passed
//! has numbers.

pub mod baseline;
mod checkers;
pub mod device_worker;
pub mod evidence;
pub mod fault_report;
pub mod library;
pub mod not_judged;
pub mod program;
pub mod sanitizer;
pub mod sentence;
pub mod station;
pub mod stations;
pub mod subject;
pub mod trusted_code;
pub mod verdict;
pub mod verification;

mod handover;
mod workload_line;
