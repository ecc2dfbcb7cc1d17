//! The fraction of the speed of light that a kernel reaches, its limiter, and advice. All functions are pure.
//!
//! ```text
//!  DeviceSheet, Calibration ──► Ceilings ──┐
//!  Definition, Workload ──► MinimalWork ───┴─► PhysicalBound, MethodBound ──► Standing, score, roofline
//!                                                   │
//!  Facts, counters, modelled times ──► Situation ───┴─► Limiter ──► advice ──► the verdict line
//! ```

pub mod achieved;
pub mod advice;
pub mod bound;
pub mod bound_comparison;
pub mod bound_fraction;
pub mod calibration;
pub mod ceilings;
pub mod code_mix;
pub mod confirmation;
pub mod extrapolated_counters;
pub mod fact;
mod full_warps;
pub mod limiter;
pub mod minimal_work;
pub mod performance_data;
pub mod permitted_pipes;
pub mod playbook;
pub mod roofline;
pub mod score;
pub mod time_comparison;
pub mod verdict_line;

#[cfg(any(test, feature = "testing"))]
pub mod fixture;
#[cfg(test)]
mod tests;
