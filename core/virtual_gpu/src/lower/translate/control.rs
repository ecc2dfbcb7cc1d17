//! Branches, calls and exits.

use super::super::super::isa::control::Control;
use super::super::super::module::{Call, CallTarget, Instruction, Operand, Symbol};
use super::super::code::{Builtin, CallSite, Code, Op, Slot, Target};
use super::super::operands::{NoPlace, Translator, op};

impl Translator<'_> {
    pub(super) fn control(
        &mut self,
        instruction: &Instruction,
        what: Control,
    ) -> Result<(), NoPlace> {
        match what {
            Control::Branch(_) => {
                let Some(Operand::Label(target)) = instruction.operands.first() else {
                    return Err(NoPlace);
                };
                self.emit(op(Code::Branch { target: *target }));
            }
            Control::BranchIndexed(_) => {
                let [index, Operand::Targets(list)] = &instruction.operands[..] else {
                    return Err(NoPlace);
                };
                let (a, _) = self.source(index)?;
                let targets = self.body.targets.get(list.0 as usize).ok_or(NoPlace)?;
                let immediate = self.program.targets.len() as i64;
                self.program.targets.extend(targets);
                let b = Slot::register(targets.len() as u32);
                self.emit(Op { a, b, immediate, ..op(Code::BranchIndexed) });
            }
            Control::Call(_) => {
                let call = instruction.operands.iter().find_map(|operand| {
                    if let Operand::Call(call) = operand { Some(call) } else { None }
                });
                return self.call(call.ok_or(NoPlace)?);
            }
            Control::Return(_) => self.emit(op(Code::Return)),
            Control::Exit => self.emit(op(Code::Exit)),
            Control::Trap => self.emit(op(Code::Trap)),
            Control::Breakpoint => self.emit(op(Code::Hint)),
        }
        Ok(())
    }

    fn call(&mut self, call: &Call) -> Result<(), NoPlace> {
        let place = |symbol: &Symbol| self.frame.offset(*symbol).ok_or(NoPlace);
        let arguments = call.arguments.iter().map(place).collect::<Result<_, _>>()?;
        let returns = call.returns.iter().map(place).collect::<Result<_, _>>()?;
        let target = match call.target {
            CallTarget::Prototype(register, _) | CallTarget::List(register, _) => {
                Target::Address(self.register(register))
            }
            CallTarget::Function(id) => {
                let function = &self.module.functions[id.0 as usize];
                match (&function.body, builtin(&function.name)) {
                    (Some(_), _) => Target::Function(id),
                    (None, Some(builtin)) => Target::Builtin(builtin),
                    (None, None) => return Err(NoPlace),
                }
            }
        };
        let index = self.program.calls.len() as u32;
        self.program.calls.push(CallSite { target, arguments, returns });
        self.emit(op(Code::Call(index)));
        Ok(())
    }
}

fn builtin(name: &str) -> Option<Builtin> {
    Some(match name {
        "vprintf" => Builtin::Print,
        "__assertfail" => Builtin::AssertFail,
        "malloc" => Builtin::Allocate,
        "free" => Builtin::Free,
        "__trap" => Builtin::Trap,
        _ => return None,
    })
}
