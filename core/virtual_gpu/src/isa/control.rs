//! Branches, calls and exits. PTX ISA, section "Control Flow Instructions", and `trap` and `brkpt` of
//! "Miscellaneous Instructions".

use super::signature::{ControlOperands, Signature};
use super::{Decoded, Modifiers, Operation, Row};

/// Whether the program guarantees a uniform branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uniformity {
    /// No guarantee.
    Any,
    /// All active lanes take the same direction (`.uni`).
    Uniform,
}

/// Control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// A branch to a label.
    Branch(Uniformity),
    /// A branch to one of a list of labels, by index.
    BranchIndexed(Uniformity),
    /// A call of a function, by name or by address.
    Call(Uniformity),
    /// Returns to the caller; in a kernel, ends the thread.
    Return(Uniformity),
    /// Ends the thread.
    Exit,
    /// Aborts the kernel with an error.
    Trap,
    /// Suspends execution for a debugger.
    Breakpoint,
}

pub(crate) const TABLE: &[Row] = &[
    Row::with("brx", "idx", |m| {
        m.flag("idx");
        control(m, Control::BranchIndexed, ControlOperands::Indexed)
    }),
    Row::any("bra", |m| control(m, Control::Branch, ControlOperands::Label)),
    Row::any("call", |m| control(m, Control::Call, ControlOperands::Call)),
    Row::any("ret", |m| {
        let operation = Control::Return(uniformity(m));
        Ok((Operation::Control(operation), Signature::new(&[])))
    }),
    Row::any("exit", |_| Ok((Operation::Control(Control::Exit), Signature::new(&[])))),
    Row::any("trap", |_| Ok((Operation::Control(Control::Trap), Signature::new(&[])))),
    Row::any("brkpt", |_| Ok((Operation::Control(Control::Breakpoint), Signature::new(&[])))),
];

fn uniformity(m: &mut Modifiers<'_>) -> Uniformity {
    if m.flag("uni") { Uniformity::Uniform } else { Uniformity::Any }
}

fn control(
    m: &mut Modifiers<'_>,
    operation: fn(Uniformity) -> Control,
    operands: ControlOperands,
) -> Decoded {
    let operation = operation(uniformity(m));
    Ok((Operation::Control(operation), Signature::control(operands)))
}
