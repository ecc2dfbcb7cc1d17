//! Calls: what is called, what is passed, where results go. PTX ISA, sections "call" and "Function Declarations
//! and Definitions".

use super::super::error::Problem;
use super::super::isa::memory::Space;
use super::super::isa::scalar::{Fit, ScalarType};
use super::super::ptx::token::excerpt;
use super::super::ptx::tree;
use super::layout::Parameter;
use super::names::Binding;
use super::operand::Symbol;
use super::operands::{OperandError, Operands, describe, undeclared};
use super::{CalleesId, FunctionId, Prototype, PrototypeId, RegisterId};

/// What is called, and with what.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What is called.
    pub target: CallTarget,
    /// `.param` variables that are passed, in order.
    pub arguments: Vec<Symbol>,
    /// `.param` variables that take results.
    pub returns: Vec<Symbol>,
}

/// What is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallTarget {
    /// A function by name.
    Function(FunctionId),
    /// A function by address, of this prototype.
    Prototype(RegisterId, PrototypeId),
    /// A function by address, one of a list.
    List(RegisterId, CalleesId),
}

type Resolved<T> = Result<T, OperandError>;

/// The shape that a callee has.
struct Shape<'s> {
    name: String,
    parameters: &'s [Parameter],
    returns: &'s [Parameter],
}

impl<'a> Operands<'_, 'a> {
    /// `(ret), callee, (args), prototype` in all the forms that PTX has.
    pub(super) fn call(
        &mut self,
        written: &[(tree::Operand<'a>, super::super::error::Place)],
        prototypes: &[Prototype],
    ) -> Resolved<Call> {
        let mut rest = written.iter().map(|(operand, _)| operand).peekable();
        let mut returns = Vec::new();
        if let Some(tree::Operand::Group(group)) = rest.peek() {
            returns = self.slots(group)?;
            rest.next();
        }
        let callee = match rest.next() {
            Some(tree::Operand::Name { name, offset: 0 }) => *name,
            Some(other) => return Err(misplaced(&describe(other), "the name of a function")),
            None => return Err(misplaced("nothing", "the name of a function")),
        };
        let mut arguments = Vec::new();
        if let Some(tree::Operand::Group(group)) = rest.peek() {
            arguments = self.slots(group)?;
            rest.next();
        }
        let list = match rest.next() {
            None => None,
            Some(tree::Operand::Name { name, offset: 0 }) => Some(*name),
            Some(other) => return Err(misplaced(&describe(other), "a prototype")),
        };
        if let Some(extra) = rest.next() {
            return Err(misplaced(&describe(extra), "the end of the call"));
        }
        let target = self.call_target(callee, list)?;
        let call = Call { target, arguments, returns };
        self.check_call(&call, callee, prototypes)?;
        Ok(call)
    }

    fn call_target(&mut self, callee: &'a str, list: Option<&'a str>) -> Resolved<CallTarget> {
        if let Some(id) = self.declared.functions.get(callee) {
            return Ok(CallTarget::Function(*id));
        }
        if self.names.find(callee).is_none() {
            return Err(OperandError::Problem(undeclared("function", callee)));
        }
        let register = self.register(callee, ScalarType::B64, Fit::Exact)?;
        let Some(list) = list else {
            return Err(misplaced("nothing", "a prototype, because the function is a register"));
        };
        match self.names.find(list) {
            Some(Binding::Prototype(id)) => Ok(CallTarget::Prototype(register, id)),
            Some(Binding::Callees(id)) => Ok(CallTarget::List(register, id)),
            Some(_) | None => Err(OperandError::Problem(undeclared("prototype", list))),
        }
    }

    /// The `.param` variables of one pair of parentheses.
    fn slots(&mut self, group: &[tree::Operand<'a>]) -> Resolved<Vec<Symbol>> {
        group.iter().map(|operand| self.slot(operand)).collect()
    }

    fn slot(&mut self, operand: &tree::Operand<'a>) -> Resolved<Symbol> {
        let tree::Operand::Name { name, offset: 0 } = operand else {
            return Err(misplaced(&describe(operand), "a `.param` variable"));
        };
        match self.symbol(name) {
            Some(symbol) if self.slot_bytes(symbol).is_some() => Ok(symbol),
            Some(_) => Err(misplaced(&describe(operand), "a `.param` variable")),
            None => Err(OperandError::Problem(undeclared("`.param` variable", name))),
        }
    }

    /// The size of a `.param` variable; none for anything else.
    fn slot_bytes(&self, symbol: Symbol) -> Option<u64> {
        match symbol {
            Symbol::Local(id) => {
                let local = &self.locals[id.0 as usize];
                (local.space == Space::Param).then(|| local.bytes.unwrap_or(0))
            }
            Symbol::Parameter(index) => {
                self.function.parameters.get(index as usize).map(|parameter| parameter.bytes)
            }
            Symbol::Return(index) => {
                self.function.returns.get(index as usize).map(|parameter| parameter.bytes)
            }
            Symbol::Variable(_) | Symbol::Function(_) => None,
        }
    }

    fn check_call(&self, call: &Call, callee: &str, prototypes: &[Prototype]) -> Resolved<()> {
        let name = excerpt(callee).to_owned();
        let shape = match call.target {
            CallTarget::Function(id) => {
                let function = &self.declared.function_list[id.0 as usize];
                let (parameters, returns) = (&function.parameters[..], &function.returns[..]);
                Shape { name, parameters, returns }
            }
            CallTarget::Prototype(_, id) => {
                let prototype = &prototypes[id.0 as usize];
                let (parameters, returns) = (&prototype.parameters[..], &prototype.returns[..]);
                Shape { name, parameters, returns }
            }
            // Which of them it is shows when it is called.
            CallTarget::List(..) => return Ok(()),
        };
        self.check_slots(&shape.name, "arguments", &call.arguments, shape.parameters)?;
        self.check_slots(&shape.name, "results", &call.returns, shape.returns)
    }

    fn check_slots(
        &self,
        callee: &str,
        what: &str,
        slots: &[Symbol],
        parameters: &[Parameter],
    ) -> Resolved<()> {
        let found: Vec<u64> =
            slots.iter().map(|slot| self.slot_bytes(*slot).unwrap_or(0)).collect();
        let expected: Vec<u64> = parameters.iter().map(|parameter| parameter.bytes).collect();
        // `name[]` takes whatever is passed: variadic functions declare it.
        let fits = found.len() == expected.len()
            && found.iter().zip(&expected).all(|(found, size)| found == size || *size == 0);
        if fits {
            return Ok(());
        }
        Err(OperandError::Problem(Problem::Call {
            callee: callee.to_owned(),
            found: sizes(what, &found),
            expected: sizes(what, &expected),
        }))
    }
}

fn sizes(what: &str, bytes: &[u64]) -> String {
    let list: Vec<String> = bytes.iter().take(16).map(u64::to_string).collect();
    format!("{} {what} of ({}) bytes", bytes.len(), list.join(", "))
}

fn misplaced(found: &str, expected: &str) -> OperandError {
    OperandError::Mismatch(super::operands::Mismatch {
        found: found.to_owned(),
        expected: expected.to_owned(),
    })
}
