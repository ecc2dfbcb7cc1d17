//! The syntax of operands as far as it selects the operation: vectors, and the selectors and signs of video
//! instructions. PTX ISA, section "Video Instructions".
//!
//! The operands of `vadd.s32.u32.s32 %r1, %r2.b0, -%r3` are plain registers; the selectors and signs belong to the
//! operation.

use lightbench_ptx::tree::{Instruction, Operand};

use super::super::isa::{OperandForms, SELECTED, video};

/// The syntax of the operands of an instruction, and the instruction with plain operands if it has selectors or
/// signs.
pub(super) fn split<'a>(written: &Instruction<'a>) -> (OperandForms<'a>, Option<Instruction<'a>>) {
    let mut forms = OperandForms::from(written.operands.len());
    for (is_vector, (operand, _)) in forms.vectors.iter_mut().zip(&written.operands) {
        *is_vector = matches!(operand, Operand::Vector(_));
    }
    if !video::has_selectors(written.opcode) {
        return (forms, None);
    }
    let mut operands = written.operands.clone();
    for (index, (operand, _)) in operands.iter_mut().enumerate().take(SELECTED) {
        let (name, selector) = if let Operand::Negative { name, component } = *operand {
            forms.negated[index] = true;
            (name, component)
        } else if let Operand::Component { name, component } = *operand
            && is_selector(component)
        {
            // Any other word after the dot is a component of a vector register.
            (name, Some(component))
        } else {
            continue;
        };
        forms.selectors[index] = selector;
        *operand = Operand::Name { name, offset: 0 };
    }
    let Instruction { place, guard, opcode, modifiers, .. } = *written;
    (forms, Some(Instruction { place, guard, opcode, modifiers, operands }))
}

/// `b0`, `h32`, `b3210`.
fn is_selector(component: &str) -> bool {
    let digits = component.strip_prefix(['b', 'h']);
    digits.is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
    })
}
