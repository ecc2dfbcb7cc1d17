//! `nanosleep`, `pmevent`, `setmaxnreg` and `griddepcontrol`. PTX ISA, section "Miscellaneous Instructions".

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
    /// Changes the number of registers of the threads of a warpgroup.
    Registers(RegisterChange),
    /// Lets dependent launches begin, or waits for the launch that this one depends on. A launch here begins when
    /// the previous one has ended.
    DependentLaunch,
}

/// How `setmaxnreg` changes the number of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterChange {
    /// `.inc` waits for registers of the pool of the block.
    Increase,
    /// `.dec` releases registers to it.
    Decrease,
}

/// The largest operand of `setmaxnreg`; operands are multiples of 8 from 24 on.
const MOST_REGISTERS: u64 = 256;

pub(crate) const TABLE: &[Row] = &[
    Row::any("nanosleep", |m| {
        m.require_flag("u32", ".u32")?;
        let roles = [Role::Read(ScalarType::U32, Fit::Exact)];
        Ok((Operation::System(System::Sleep), Signature::new(&roles)))
    }),
    Row::any("setmaxnreg", |m| {
        let change = if m.flag("inc") {
            RegisterChange::Increase
        } else {
            m.require_flag("dec", "`.inc` or `.dec`")?;
            RegisterChange::Decrease
        };
        m.require_flag("sync", "`.sync`")?;
        m.require_flag("aligned", "`.aligned`")?;
        m.require_flag("u32", ".u32")?;
        let roles = [Role::Constant { largest: MOST_REGISTERS }];
        Ok((Operation::System(System::Registers(change)), Signature::new(&roles)))
    }),
    Row::any("griddepcontrol", |m| {
        if !m.flag("wait") {
            m.require_flag("launch_dependents", "`.wait` or `.launch_dependents`")?;
        }
        Ok((Operation::System(System::DependentLaunch), Signature::new(&[])))
    }),
    Row::any("pmevent", |m| {
        m.flag("mask");
        let roles = [Role::Constant { largest: 0xFFFF }];
        Ok((Operation::System(System::PerformanceEvent), Signature::new(&roles)))
    }),
];
