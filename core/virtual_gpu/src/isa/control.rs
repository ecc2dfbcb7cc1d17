//! Branches, calls, ends. PTX ISA, section "Control Flow Instructions", and `trap` and `brkpt` of
//! "Miscellaneous Instructions".

use super::signature::{ControlOperands, Signature};
use super::{Decoded, Modifiers, Operation, Row};

/// What the program promises about the lanes that get there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uniformity {
    /// Nothing.
    Any,
    /// All active lanes go the same way (`.uni`).
    Uniform,
}

/// Control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// To a label.
    Branch(Uniformity),
    /// To one of a list of labels, by index.
    BranchIndexed(Uniformity),
    /// To a function, named or by address.
    Call(Uniformity),
    /// Back to the caller; in a kernel, the end of the thread.
    Return(Uniformity),
    /// The end of the thread.
    Exit,
    /// The end of the kernel, with an error.
    Trap,
    /// A stop for a debugger.
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
