//! Which device variables a function writes, or whose addresses escape.
//!
//! A `.global` variable lives as long as its module: what one launch leaves in it the next one finds. Reading a table is
//! fine. A store, an atomic, or an address that goes where it cannot be followed (memory, a call, arithmetic that is
//! none of pointers') is found. Which function does it does not matter, nor who declares the variable.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use lightbench_ptx::tree::{
    Address, Body, Declaration, Function, InitialValue, Instruction, Operand, Statement, Tree,
};

use super::flow::{Flow, Value, VariableId};
use super::reach::each_name;
use super::scopes::{Kind, Local, Scopes};
use super::uses::callee;
use super::{Module, Unreadable};

/// The variables of a module that may hold state or addresses: `.global` and `.const`.
pub(super) struct Variables<'t> {
    ids: HashMap<&'t str, VariableId>,
    all: Vec<Variable<'t>>,
}

struct Variable<'t> {
    name: &'t str,
    is_global: bool,
    /// The variables that its initialiser names.
    inside: Vec<VariableId>,
}

impl<'t> Variables<'t> {
    /// The variables of the module, and those that functions declare: they have the module's lifetime too.
    pub(super) fn from_tree(tree: &Tree<'t>) -> Self {
        let bodies = tree.functions.iter().filter_map(|function| function.body.as_ref());
        let inner = bodies.flat_map(|body| &body.statements).filter_map(declaration);
        let declared: Vec<&Declaration<'t>> = tree
            .variables
            .iter()
            .chain(inner)
            .filter(|variable| matches!(variable.space, "global" | "const"))
            .collect();
        let ids: HashMap<&str, VariableId> =
            (0..).zip(&declared).map(|(id, variable)| (variable.name, id)).collect();
        let all = declared
            .into_iter()
            .map(|variable| Variable {
                name: variable.name,
                is_global: variable.space == "global",
                inside: inside(variable, &ids),
            })
            .collect();
        Self { ids, all }
    }

    fn inside(&self, variable: VariableId) -> &[VariableId] {
        self.get(variable).map(|variable| variable.inside.as_slice()).unwrap_or_default()
    }

    /// The address of a table gives access to the addresses in it. Each table is expanded once.
    fn with_insides(
        &self,
        mut lost: BTreeSet<VariableId>,
        opened: &mut BTreeSet<VariableId>,
    ) -> BTreeSet<VariableId> {
        let mut pending: Vec<VariableId> = lost.iter().copied().collect();
        while let Some(variable) = pending.pop() {
            if opened.insert(variable) {
                lost.extend(self.inside(variable));
                pending.extend(self.inside(variable));
            }
        }
        lost
    }

    fn get(&self, variable: VariableId) -> Option<&Variable<'t>> {
        self.all.get(variable as usize)
    }
}

fn declaration<'a, 't>(statement: &'a Statement<'t>) -> Option<&'a Declaration<'t>> {
    match statement {
        Statement::Declaration(declaration) => Some(declaration),
        Statement::Open(_)
        | Statement::Close
        | Statement::Label(..)
        | Statement::Instruction(_)
        | Statement::Location(..)
        | Statement::Unsupported(_)
        | Statement::Prototype { .. }
        | Statement::BranchTargets { .. }
        | Statement::CallTargets { .. } => None,
    }
}

fn inside(variable: &Declaration<'_>, ids: &HashMap<&str, VariableId>) -> Vec<VariableId> {
    let named = variable.initial.iter().filter_map(|initial| match initial.value {
        InitialValue::Symbol { name, .. } => ids.get(name).copied(),
        InitialValue::Literal(_) => None,
    });
    named.collect::<BTreeSet<_>>().into_iter().collect()
}

/// What one instruction does with variables.
#[derive(Debug)]
pub(super) struct GlobalUse<'t> {
    /// The instruction's place among the statements of the body.
    pub(super) statement: usize,
    how: How,
    variables: Vec<&'t str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum How {
    Writes,
    Loses,
}

impl fmt::Display for GlobalUse<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.how {
            How::Writes => "writes",
            How::Loses => "passes on the address of",
        })?;
        let [first, others @ ..] = self.variables.as_slice() else { return Ok(()) };
        write!(formatter, " `{first}`")?;
        match others.len() {
            0 => Ok(()),
            1 => formatter.write_str(" or another variable"),
            count => write!(formatter, " or one of {count} other variables"),
        }
    }
}

/// Everything that a function does with `.global` variables beyond reading them, in the order of its statements.
///
/// # Errors
/// Braces are nested too deep.
pub(super) fn uses<'t>(
    function: &Function<'t>,
    body: &Body<'t>,
    module: &Module<'_, 't>,
) -> Result<Vec<GlobalUse<'t>>, Unreadable> {
    let variables = &module.variables;
    let mut flow = Flow::default();
    each_instruction(function, body, |_, instruction, scopes| {
        let names = Names { scopes, module };
        spread(instruction, &names, &mut flow);
    })?;
    let settled = flow.settle(|variable| variables.inside(variable).to_vec());
    let mut opened = BTreeSet::new();
    let mut found = Vec::new();
    each_instruction(function, body, |statement, instruction, scopes| {
        let names = Names { scopes, module };
        let mut judge =
            Judge { names, flow: &flow, written: BTreeSet::new(), lost: BTreeSet::new() };
        if settled {
            judge.instruction(instruction);
        } else {
            judge.lose_everything_named(instruction);
        }
        let Judge { written, lost, .. } = judge;
        let lost = variables.with_insides(lost, &mut opened);
        for (how, which) in [(How::Writes, written), (How::Loses, lost)] {
            let variables = which.into_iter().filter_map(|id| variables.get(id));
            let global = variables.filter(|variable| variable.is_global);
            let variables: Vec<&str> = global.map(|variable| variable.name).collect();
            if !variables.is_empty() {
                found.push(GlobalUse { statement, how, variables });
            }
        }
    })?;
    Ok(found)
}

fn each_instruction<'t>(
    function: &Function<'t>,
    body: &Body<'t>,
    mut visit: impl FnMut(usize, &Instruction<'t>, &Scopes<'t>),
) -> Result<(), Unreadable> {
    let mut scopes = Scopes::from_function(function);
    for (index, statement) in body.statements.iter().enumerate() {
        if let Statement::Instruction(instruction) = statement {
            visit(index, instruction, &scopes);
        } else {
            scopes.enter(statement)?;
        }
    }
    Ok(())
}

/// What names stand for at an instruction.
#[derive(Clone, Copy)]
struct Names<'a, 't> {
    scopes: &'a Scopes<'t>,
    module: &'a Module<'a, 't>,
}

impl<'t> Names<'_, 't> {
    fn value(&self, name: &'t str) -> Option<Value<'t>> {
        let local = self.scopes.find(name).map(Value::Local);
        local.or_else(|| self.module.variables.ids.get(name).copied().map(Value::Address))
    }

    /// The values of an operand that is no address.
    fn values(&self, operand: &Operand<'t>) -> Vec<Value<'t>> {
        match operand {
            // A component stands for the whole vector register, which errs towards finding too much.
            Operand::Name { name, .. }
            | Operand::Component { name, .. }
            | Operand::Negative { name, .. } => self.value(name).into_iter().collect(),
            Operand::Vector(elements) | Operand::Group(elements) => {
                elements.iter().flat_map(|element| self.values(element)).collect()
            }
            Operand::Pair(first, _) => self.value(first).into_iter().collect(),
            Operand::Address(_) | Operand::Literal(_) | Operand::Not(_) => Vec::new(),
        }
    }

    fn locals(&self, operand: &Operand<'t>) -> Vec<Local<'t>> {
        let local = |value| match value {
            Value::Local(local) => Some(local),
            Value::Address(_) => None,
        };
        self.values(operand).into_iter().filter_map(local).collect()
    }

    /// Whether nothing in the module defines a name.
    fn is_foreign(&self, name: &'t str) -> bool {
        !self.module.index.defines(name) && self.scopes.find(name).is_none()
    }

    /// What stands before the offset of an address.
    fn base(&self, address: &Address<'t>) -> Option<Value<'t>> {
        address.base.and_then(|name| self.value(name))
    }
}

/// The effect of an instruction on addresses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// The first operand gets something of the others: pointer arithmetic and moves.
    Moves,
    Loads,
    Stores,
    /// Reads memory, writes it, and gives what it read.
    Updates,
    /// The first operand is where it writes.
    Copies,
    Calls,
    /// Reads addresses and passes none on.
    Inspects,
    /// Unknown effect on addresses.
    Other,
}

fn effect(opcode: &str) -> Effect {
    match opcode {
        "mov" | "cvta" | "cvt" | "add" | "sub" | "mad" | "selp" | "and" | "or" | "min" | "max" => {
            Effect::Moves
        }
        "ld" | "ldu" => Effect::Loads,
        "st" => Effect::Stores,
        "atom" | "red" => Effect::Updates,
        "cp" => Effect::Copies,
        "call" => Effect::Calls,
        "setp" | "isspacep" | "prefetch" | "prefetchu" => Effect::Inspects,
        _ => Effect::Other,
    }
}

/// Adds to the flow what one instruction moves.
fn spread<'t>(instruction: &Instruction<'t>, names: &Names<'_, 't>, flow: &mut Flow<'t>) {
    let Some(((first, _), others)) = instruction.operands.split_first() else { return };
    match effect(instruction.opcode) {
        Effect::Moves => {
            let from = others.iter().flat_map(|(operand, _)| names.values(operand)).collect();
            flow.copy_each(from, &names.locals(first));
        }
        Effect::Loads => {
            let Some((Operand::Address(address), _)) = others.first() else { return };
            let Some(from) = names.base(address) else { return };
            for to in names.locals(first) {
                if is_parameter(from) {
                    flow.copy(from, to);
                } else {
                    flow.load(from, to, |variable| {
                        names.module.variables.inside(variable).to_vec()
                    });
                }
            }
        }
        Effect::Stores => {
            let Operand::Address(address) = first else { return };
            let Some(Value::Local(to)) = names.base(address).filter(|base| is_parameter(*base))
            else {
                return;
            };
            let from = others.iter().flat_map(|(operand, _)| names.values(operand)).collect();
            flow.copy_each(from, &[to]);
        }
        Effect::Updates | Effect::Copies | Effect::Calls | Effect::Inspects | Effect::Other => {}
    }
}

/// Whether a name is a parameter itself, and not a register that holds the address of something.
fn is_parameter(value: Value<'_>) -> bool {
    matches!(value, Value::Local(Local { kind: Kind::Parameter, .. }))
}

/// Functions that read through the addresses they get.
const READERS: [&str; 2] = ["vprintf", "__assertfail"];

/// What one instruction does, once it is known what registers hold.
struct Judge<'a, 't> {
    names: Names<'a, 't>,
    flow: &'a Flow<'t>,
    written: BTreeSet<VariableId>,
    lost: BTreeSet<VariableId>,
}

impl<'t> Judge<'_, 't> {
    fn instruction(&mut self, instruction: &Instruction<'t>) {
        let operands = &instruction.operands;
        self.lose_what_is_returned(instruction);
        match effect(instruction.opcode) {
            Effect::Moves | Effect::Loads | Effect::Inspects => {}
            Effect::Calls => {
                let reads = |name| READERS.contains(&name) && self.names.is_foreign(name);
                if !callee(instruction).is_some_and(reads) {
                    operands.iter().for_each(|(operand, _)| self.lose(operand));
                }
            }
            // What is stored into a parameter goes to a call, which decides.
            Effect::Stores if self.prepares_a_call(instruction) => {}
            Effect::Stores | Effect::Updates => {
                for (operand, _) in operands {
                    if let Operand::Address(address) = operand {
                        self.write(address);
                    } else {
                        self.lose(operand);
                    }
                }
            }
            Effect::Copies => {
                if let Some((Operand::Address(address), _)) = operands.first() {
                    self.write(address);
                }
                operands.iter().for_each(|(operand, _)| self.lose(operand));
            }
            Effect::Other => {
                for (operand, _) in operands {
                    if let Operand::Address(address) = operand {
                        self.lose_base(address);
                    } else {
                        self.lose(operand);
                    }
                }
            }
        }
    }

    /// A result that is declared in `.reg` goes to the caller as it is.
    fn lose_what_is_returned(&mut self, instruction: &Instruction<'t>) {
        let Some((first, _)) = instruction.operands.first() else { return };
        for local in self.names.locals(first) {
            if local.kind == Kind::Return {
                self.lost.extend(self.flow.addresses(Value::Local(local)));
            }
        }
    }

    fn prepares_a_call(&self, instruction: &Instruction<'t>) -> bool {
        let Some((Operand::Address(address), _)) = instruction.operands.first() else {
            return false;
        };
        self.names.base(address).is_some_and(is_parameter)
    }

    fn write(&mut self, address: &Address<'t>) {
        if let Some(base) = self.names.base(address) {
            self.written.extend(self.flow.addresses(base));
        }
    }

    fn lose(&mut self, operand: &Operand<'t>) {
        for value in self.names.values(operand) {
            self.lost.extend(self.flow.addresses(value));
        }
    }

    fn lose_base(&mut self, address: &Address<'t>) {
        if let Some(base) = self.names.base(address) {
            self.lost.extend(self.flow.addresses(base));
        }
    }

    /// Where registers are not followed, whatever is named is lost.
    fn lose_everything_named(&mut self, instruction: &Instruction<'t>) {
        for (operand, _) in &instruction.operands {
            each_name(operand, &mut |name| {
                if let Some(Value::Address(variable)) = self.names.value(name) {
                    self.lost.insert(variable);
                }
            });
        }
    }
}
