//! Which functions the launched entries reach.
//!
//! A function whose name is mentioned in reachable code, or in the initialiser of a variable that is, counts as reached:
//! called directly, its address taken for an indirect call, or listed as a target. The address of a function must come
//! from somewhere, and these are all the places.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use lightbench_ptx::tree::{
    Body, Declaration, Function, FunctionKind, InitialValue, Operand, Statement, Tree,
};

use super::Unreadable;

/// Something that an entry reaches.
pub(super) enum Reached<'a, 't> {
    /// A function with a body.
    Function(&'a Function<'t>, &'a Body<'t>),
    /// A variable that names something: a table of functions, say.
    Table(&'a Declaration<'t>),
}

/// What a name of the module stands for.
enum Symbol<'a, 't> {
    Function(&'a Function<'t>),
    Variable(&'a Declaration<'t>),
    Alias(&'t str),
}

/// Everything that the entries reach, each with the first entry (by index) that does.
///
/// # Errors
/// An entry that is not in the module.
pub(super) fn from<'a, 't>(
    tree: &'a Tree<'t>,
    entries: &[&str],
) -> Result<Vec<(Reached<'a, 't>, usize)>, Unreadable> {
    let symbols = symbols(tree);
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut reached = Vec::new();
    for (entry, wanted) in entries.iter().enumerate() {
        let kernel = match symbols.get(wanted) {
            Some(Symbol::Function(function)) if function.kind == FunctionKind::Entry => *function,
            Some(_) | None => return Err(Unreadable::NoEntry((*wanted).to_owned())),
        };
        let mut pending = VecDeque::from([kernel.name]);
        while let Some(name) = pending.pop_front() {
            let Some(symbol) = symbols.get(name) else { continue };
            if !seen.insert(name) {
                continue;
            }
            match symbol {
                Symbol::Alias(target) => pending.push_back(target),
                Symbol::Variable(variable) => {
                    pending.extend(initialised_with(variable));
                    reached.push((Reached::Table(variable), entry));
                }
                Symbol::Function(function) => {
                    if let Some(body) = &function.body {
                        mentions(body, &mut |name| pending.push_back(name));
                        reached.push((Reached::Function(function, body), entry));
                    }
                }
            }
        }
    }
    Ok(reached)
}

fn symbols<'a, 't>(tree: &'a Tree<'t>) -> BTreeMap<&'t str, Symbol<'a, 't>> {
    let mut symbols = BTreeMap::new();
    for variable in &tree.variables {
        symbols.insert(variable.name, Symbol::Variable(variable));
    }
    for alias in &tree.aliases {
        symbols.insert(alias.name, Symbol::Alias(alias.target));
    }
    let (defined, declared): (Vec<_>, Vec<_>) =
        tree.functions.iter().partition(|function| function.body.is_some());
    // An alias is declared as a function too; a definition counts more than either.
    for function in declared {
        symbols.entry(function.name).or_insert(Symbol::Function(function));
    }
    for function in defined {
        symbols.insert(function.name, Symbol::Function(function));
    }
    symbols
}

/// The names in a variable's initialiser.
fn initialised_with<'t>(variable: &Declaration<'t>) -> impl Iterator<Item = &'t str> {
    variable.initial.iter().filter_map(|initial| match initial.value {
        InitialValue::Symbol { name, .. } => Some(name),
        InitialValue::Literal(_) => None,
    })
}

/// Every name that a body mentions.
fn mentions<'t>(body: &Body<'t>, found: &mut impl FnMut(&'t str)) {
    for statement in &body.statements {
        match statement {
            Statement::Instruction(instruction) => {
                for (operand, _) in &instruction.operands {
                    each_name(operand, found);
                }
            }
            Statement::Declaration(declaration) => {
                initialised_with(declaration).for_each(&mut *found);
            }
            Statement::CallTargets { functions, .. } => {
                functions.iter().copied().for_each(&mut *found);
            }
            Statement::Open(_)
            | Statement::Close
            | Statement::Label(..)
            | Statement::Location(..)
            | Statement::Unsupported(_)
            | Statement::Prototype { .. }
            | Statement::BranchTargets { .. } => {}
        }
    }
}

/// Every name in an operand. Vectors, groups and coordinates hold plain operands only.
pub(super) fn each_name<'t>(operand: &Operand<'t>, found: &mut impl FnMut(&'t str)) {
    match operand {
        Operand::Name { name, .. }
        | Operand::Component { name, .. }
        | Operand::Negative { name, .. }
        | Operand::Not(name) => found(name),
        Operand::Pair(first, second) => {
            found(first);
            found(second);
        }
        Operand::Address(address) => {
            address.base.into_iter().for_each(&mut *found);
            address.coordinates.iter().for_each(|coordinate| each_name(coordinate, found));
        }
        Operand::Vector(elements) | Operand::Group(elements) => {
            elements.iter().for_each(|element| each_name(element, found));
        }
        Operand::Literal(_) => {}
    }
}
