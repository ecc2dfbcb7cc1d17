//! Operands of branches and calls. PTX ISA, section "Control Flow Instructions".

use lightbench_ptx::tree;

use super::super::error::{Problem, PtxLocation};
use super::super::isa;
use super::super::isa::scalar::{Fit, ScalarType};
use super::super::isa::signature::{ControlOperands, Role};
use super::body::{Guard, Reader, problem};
use super::names::Binding;
use super::operand::Operand;
use super::operands::undeclared;

type Resolved = Result<Box<[Operand]>, (PtxLocation, Problem)>;

impl<'a> Reader<'_, 'a> {
    pub(super) fn control_operands(
        &mut self,
        kind: ControlOperands,
        written: &tree::Instruction<'a>,
        words: &[&'a str],
        guard: Option<Guard>,
    ) -> Resolved {
        match kind {
            ControlOperands::Label => self.branch(written, words),
            ControlOperands::Indexed => self.indexed_branch(written, words),
            ControlOperands::Call => {
                let prototypes = std::mem::take(&mut self.body.prototypes);
                let call = self.operands().call(&written.operands, &prototypes);
                self.body.prototypes = prototypes;
                let call = call
                    .map_err(|error| (written.place, problem(error, 1, written.opcode, words)))?;
                let call = self.pass_registers(call, guard, written.place);
                Ok([Operand::Call(Box::new(call))].into())
            }
        }
    }

    fn branch(&self, written: &tree::Instruction<'a>, words: &[&'a str]) -> Resolved {
        let [(target, place)] = written.operands.as_slice() else {
            return Err(miscounted(written, words, 1));
        };
        let name = name(target);
        let position = self.label(name).ok_or_else(|| (*place, undeclared("label", name)))?;
        Ok([Operand::Label(position)].into())
    }

    fn indexed_branch(&mut self, written: &tree::Instruction<'a>, words: &[&'a str]) -> Resolved {
        let [(index, place), (list, list_place)] = written.operands.as_slice() else {
            return Err(miscounted(written, words, 2));
        };
        let role = Role::Read(ScalarType::U32, Fit::Exact);
        let index = self.operands().check(role, index);
        let index = index.map_err(|error| (*place, problem(error, 1, written.opcode, words)))?;
        let name = name(list);
        let Some(Binding::Targets(id)) = self.names.find(name) else {
            return Err((*list_place, undeclared("list of branch targets", name)));
        };
        Ok([index, Operand::Targets(id)].into())
    }
}

/// The plain name of an operand; empty, and therefore undeclared, for any other operand.
fn name<'a>(operand: &tree::Operand<'a>) -> &'a str {
    if let tree::Operand::Name { name, offset: 0 } = operand { name } else { "" }
}

fn miscounted(
    written: &tree::Instruction<'_>,
    words: &[&str],
    expected: usize,
) -> (PtxLocation, Problem) {
    let instruction = isa::spelling(written.opcode, words);
    let (found, expected) = (written.operands.len(), expected.to_string());
    (written.place, Problem::OperandCount { instruction, found, expected })
}
