//! The results of commands as documents: the types behind `--json`.
//!
//! [`RunReport`] is what an evaluation produces, in the form that leaves the program: owned, serialisable, and with the
//! schema that it follows. These types define the fields; their doc comments are the descriptions in `docs/schema/`,
//! which a test generates and compares. A field that changes its meaning or disappears needs a new schema number; a new
//! field does not.
//!
//! The unit of a number is the last part of its field's name.

pub mod access;
pub mod build_failure;
pub mod check;
pub mod checks;
pub mod compare;
pub mod error;
pub mod eval;
pub mod explanation;
pub mod failure;
pub mod fault;
pub mod grades;
pub mod kernel_facts;
pub mod launch;
pub mod lesson;
pub mod listing;
pub mod number;
pub mod problem;
mod run;
mod screening;
pub mod source_line;
pub mod suggest;
pub mod timeline;
pub mod timing;

#[cfg(test)]
mod tests;

pub use check::CheckReport;
pub use compare::CompareReport;
pub use error::ErrorReport;
pub use eval::EvalReport;
pub use launch::LaunchReport;
pub use run::{
    PassedReport, ReportedDevice, ReportedStatus, RunOutcome, RunReport, RunReports, RunSchema,
    RunsSchema, verdict_word,
};
pub use screening::{
    ReportedScreeningTime, ScreenedWorkload, ScreeningOutcome, ScreeningReport, ScreeningReports,
    ScreeningSchema, ScreeningsSchema,
};
