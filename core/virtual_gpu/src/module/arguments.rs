//! Calls: what is called, what is passed, where results go. PTX ISA, sections "call" and "Function Declarations
//! and Definitions".

use super::super::error::Problem;
use super::super::isa::memory::Space;
use super::super::isa::scalar::{Fit, ScalarType};
use super::super::isa::signature::Role;
use super::super::ptx::token::excerpt;
use super::super::ptx::tree;
use super::declared::Declared;
use super::layout::Parameter;
use super::names::Binding;
use super::operand::{Operand, Symbol};
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

/// What stands for one parameter or result of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Passed {
    /// A `.param` variable.
    Slot(Symbol),
    /// A register, a constant or the sink, of so many bytes.
    Value(Operand, u64),
}

/// A call before its registers are given memory.
pub(super) struct WrittenCall {
    pub(super) target: CallTarget,
    pub(super) arguments: Vec<Passed>,
    pub(super) returns: Vec<Passed>,
}

/// Which way a value goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Argument,
    Result,
}

/// The shape that a callee has.
struct Shape<'s> {
    name: String,
    parameters: &'s [Parameter],
    returns: &'s [Parameter],
}

impl<'r, 'a> Operands<'r, 'a> {
    /// `(ret), callee, (args), prototype` in all the forms that PTX has.
    pub(super) fn call(
        &mut self,
        written: &[(tree::Operand<'a>, super::super::error::Place)],
        prototypes: &[Prototype],
    ) -> Resolved<WrittenCall> {
        let mut rest = written.iter().map(|(operand, _)| operand).peekable();
        let mut returns: &[tree::Operand<'a>] = &[];
        if let Some(tree::Operand::Group(group)) = rest.peek() {
            returns = group;
            rest.next();
        }
        let callee = match rest.next() {
            Some(tree::Operand::Name { name, offset: 0 }) => *name,
            Some(other) => return Err(misplaced(&describe(other), "the name of a function")),
            None => return Err(misplaced("nothing", "the name of a function")),
        };
        let mut arguments: &[tree::Operand<'a>] = &[];
        if let Some(tree::Operand::Group(group)) = rest.peek() {
            arguments = group;
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
        let shape = self.shape(target, callee, prototypes);
        let arguments = self.passed(arguments, shape.parameters, Direction::Argument)?;
        let returns = self.passed(returns, shape.returns, Direction::Result)?;
        // Which function of a list it is shows when it is called.
        if !matches!(target, CallTarget::List(..)) {
            check_sizes(&shape.name, "arguments", &self.sizes(&arguments), shape.parameters)?;
            check_sizes(&shape.name, "results", &self.sizes(&returns), shape.returns)?;
        }
        Ok(WrittenCall { target, arguments, returns })
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

    /// What stands in one pair of parentheses. Where it is no `.param` variable, the callee gives the type of constants.
    fn passed(
        &mut self,
        group: &[tree::Operand<'a>],
        parameters: &[Parameter],
        direction: Direction,
    ) -> Resolved<Vec<Passed>> {
        let mut all = Vec::with_capacity(group.len());
        for (index, operand) in group.iter().enumerate() {
            all.push(self.passed_one(operand, parameters.get(index), direction)?);
        }
        Ok(all)
    }

    fn passed_one(
        &mut self,
        operand: &tree::Operand<'a>,
        parameter: Option<&Parameter>,
        direction: Direction,
    ) -> Resolved<Passed> {
        if let tree::Operand::Name { name, offset: 0 } = operand
            && let Some(symbol) = self.symbol(name)
        {
            return match self.slot_bytes(symbol) {
                Some(_) => Ok(Passed::Slot(symbol)),
                None => Err(misplaced(&describe(operand), "a `.param` variable or a register")),
            };
        }
        let Some(parameter) = parameter else {
            return Err(misplaced(&describe(operand), "no further value: the callee has fewer"));
        };
        let fit = Fit::Exact;
        let role = match direction {
            Direction::Argument => Role::Read(parameter.element, fit),
            Direction::Result => Role::Write(parameter.element, fit),
        };
        let value = self.check(role, operand)?;
        Ok(Passed::Value(value, u64::from(parameter.element.bytes())))
    }

    fn sizes(&self, passed: &[Passed]) -> Vec<u64> {
        let size = |passed: &Passed| match passed {
            Passed::Slot(symbol) => self.slot_bytes(*symbol).unwrap_or(0),
            Passed::Value(_, bytes) => *bytes,
        };
        passed.iter().map(size).collect()
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

    /// What the callee takes and returns; of a list of functions, what its first one does.
    fn shape<'s>(&self, target: CallTarget, callee: &str, prototypes: &'s [Prototype]) -> Shape<'s>
    where
        'r: 's,
    {
        let name = excerpt(callee).to_owned();
        let declared: &'r Declared<'a> = self.declared;
        let of_function = |id: FunctionId, name| {
            let function = &declared.function_list[id.0 as usize];
            Shape { name, parameters: &function.parameters, returns: &function.returns }
        };
        match target {
            CallTarget::Function(id) => of_function(id, name),
            CallTarget::Prototype(_, id) => {
                let prototype = &prototypes[id.0 as usize];
                Shape { name, parameters: &prototype.parameters, returns: &prototype.returns }
            }
            CallTarget::List(_, id) => match self.callees[id.0 as usize].first() {
                Some(first) => of_function(*first, name),
                None => Shape { name, parameters: &[], returns: &[] },
            },
        }
    }
}

fn check_sizes(callee: &str, what: &str, found: &[u64], parameters: &[Parameter]) -> Resolved<()> {
    let expected: Vec<u64> = parameters.iter().map(|parameter| parameter.bytes).collect();
    // `name[]` takes whatever is passed: variadic functions declare it.
    let fits = found.len() == expected.len()
        && found.iter().zip(&expected).all(|(found, size)| found == size || *size == 0);
    if fits {
        return Ok(());
    }
    Err(OperandError::Problem(Problem::Call {
        callee: callee.to_owned(),
        found: sizes(what, found),
        expected: sizes(what, &expected),
    }))
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
