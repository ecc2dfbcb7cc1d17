//! How far a kernel is from what the device permits, what holds it back, and what to try next. Pure.
//!
//! ```text
//!  DeviceSheet, Calibration ──► Ceilings ──┐
//!  Definition, Workload ──► MinimalWork ───┴─► PhysicalBound, MethodBound ──► Standing, score, roofline
//!                                                   │
//!  Facts, counters, modelled times ──► Situation ───┴─► Limiter ──► advice ──► the verdict line
//! ```

pub mod advice;
pub mod beside;
pub mod bound;
pub mod calibration;
pub mod ceilings;
pub mod code_mix;
pub mod confirmation;
pub mod fact;
pub mod limiter;
pub mod minimal_work;
pub mod permitted;
pub mod playbook;
pub mod roofline;
pub mod score;
pub mod share;
pub mod situation;
pub mod standing;
pub mod than;
pub mod verdict_line;
mod whole_warps;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;
