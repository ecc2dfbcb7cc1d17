//! Calls: the callee, its arguments and its results. PTX ISA, sections "call" and "Function Declarations and
//! Definitions".

use lightbench_ptx::excerpt;
use lightbench_ptx::tree;

use super::super::error::Problem;
use super::super::isa::memory::Space;
use super::super::isa::scalar::{Fit, ScalarType};
use super::super::isa::signature::Role;
use super::layout::Parameter;
use super::module_scope::ModuleScope;
use super::names::Binding;
use super::operand::{Operand, Symbol};
use super::operands::{OperandError, Operands, describe, undeclared};
use super::{CalleesId, FunctionId, Prototype, PrototypeId, RegisterId};

/// The operands of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub target: CallTarget,
    /// `.param` variables of the arguments, in order.
    pub arguments: Vec<Symbol>,
    /// `.param` variables of the results.
    pub returns: Vec<Symbol>,
}

/// The callee of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallTarget {
    /// A function by name.
    Function(FunctionId),
    /// A function by address, with this prototype.
    Prototype(RegisterId, PrototypeId),
    /// A function by address, one of a list.
    List(RegisterId, CalleesId),
}

type Resolved<T> = Result<T, OperandError>;

/// The operand for one parameter or result of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PassedValue {
    /// A `.param` variable.
    Slot(Symbol),
    /// A register, a constant or the sink, with its size in bytes.
    Value(Operand, u64),
}

/// A call before memory is assigned to its register operands.
pub(super) struct ParsedCall {
    pub(super) target: CallTarget,
    pub(super) arguments: Vec<PassedValue>,
    pub(super) returns: Vec<PassedValue>,
}

/// Whether a value is an argument or a result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Argument,
    Result,
}

/// The signature of a callee.
struct Shape<'s> {
    name: String,
    parameters: &'s [Parameter],
    returns: &'s [Parameter],
}

impl<'r, 'a> Operands<'r, 'a> {
    /// `(ret), callee, (args), prototype` in all the forms of PTX.
    pub(super) fn call(
        &mut self,
        written: &[(tree::Operand<'a>, super::super::error::PtxLocation)],
        prototypes: &[Prototype],
    ) -> Resolved<ParsedCall> {
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
        // The function of a list is known only when the call executes.
        if !matches!(target, CallTarget::List(..)) {
            check_sizes(&shape.name, "arguments", &self.sizes(&arguments), shape.parameters)?;
            check_sizes(&shape.name, "results", &self.sizes(&returns), shape.returns)?;
        }
        Ok(ParsedCall { target, arguments, returns })
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

    /// The operands in one pair of parentheses. Constants take their type from the callee.
    fn passed(
        &mut self,
        group: &[tree::Operand<'a>],
        parameters: &[Parameter],
        direction: Direction,
    ) -> Resolved<Vec<PassedValue>> {
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
    ) -> Resolved<PassedValue> {
        if let tree::Operand::Name { name, offset: 0 } = operand
            && let Some(symbol) = self.symbol(name)
        {
            return match self.slot_bytes(symbol) {
                Some(_) => Ok(PassedValue::Slot(symbol)),
                None => Err(misplaced(&describe(operand), "a `.param` variable or a register")),
            };
        }
        let Some(parameter) = parameter else {
            return Err(misplaced(
                &describe(operand),
                "the end of the list: the callee has fewer parameters",
            ));
        };
        let fit = Fit::Exact;
        let role = match direction {
            Direction::Argument => Role::Read(parameter.element, fit),
            Direction::Result => Role::Write(parameter.element, fit),
        };
        let value = self.check(role, operand)?;
        Ok(PassedValue::Value(value, u64::from(parameter.element.bytes())))
    }

    fn sizes(&self, passed: &[PassedValue]) -> Vec<u64> {
        let size = |passed: &PassedValue| match passed {
            PassedValue::Slot(symbol) => self.slot_bytes(*symbol).unwrap_or(0),
            PassedValue::Value(_, bytes) => *bytes,
        };
        passed.iter().map(size).collect()
    }

    /// The size of a `.param` variable; none for any other symbol.
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

    /// The signature of the callee; for a list of functions, that of the first one.
    fn shape<'s>(&self, target: CallTarget, callee: &str, prototypes: &'s [Prototype]) -> Shape<'s>
    where
        'r: 's,
    {
        let name = excerpt(callee).to_owned();
        let declared: &'r ModuleScope<'a> = self.declared;
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
    // `name[]` accepts any argument: variadic functions declare it.
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
