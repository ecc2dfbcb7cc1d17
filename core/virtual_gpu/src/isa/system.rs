//! `nanosleep` and `pmevent`. PTX ISA, section "Miscellaneous Instructions".

use super::scalar::{Fit, ScalarType};
use super::signature::{Role, Signature};
use super::{Operation, Row};

/// Operations without an effect on values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// Suspends the thread for about the given number of nanoseconds.
    Sleep,
    /// Triggers performance events, by number or by mask.
    PerformanceEvent,
}

pub(crate) const TABLE: &[Row] = &[
    Row::any("nanosleep", |m| {
        m.require_flag("u32", ".u32")?;
        let roles = [Role::Read(ScalarType::U32, Fit::Exact)];
        Ok((Operation::System(System::Sleep), Signature::new(&roles)))
    }),
    Row::any("pmevent", |m| {
        m.flag("mask");
        let roles = [Role::Constant { largest: 0xFFFF }];
        Ok((Operation::System(System::PerformanceEvent), Signature::new(&roles)))
    }),
];
