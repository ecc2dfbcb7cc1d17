//! Functions that a reference calls and nothing defines: a task may hold the text of one function without its helpers.
//!
//! Scopes are not followed: a name that anything in the text may bind counts as defined everywhere.

use std::collections::BTreeSet;

use lightbench_python_source::{Expression, ExpressionKind, Module, Statement, StatementKind};

use crate::report::{Place, Report};

/// Names in a question; the others are counted.
const MOST_NAMES: usize = 8;

/// Asks for the definitions of functions that a reference calls and does not define.
pub(crate) fn ask_for_definitions(reference: &Module, report: &mut Report) {
    let missing = undefined(reference);
    if missing.is_empty() {
        return;
    }
    let shown: Vec<String> =
        missing.iter().take(MOST_NAMES).map(|name| format!("`{name}`")).collect();
    let others = match missing.len().saturating_sub(MOST_NAMES) {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    let text = format!(
        "the reference calls {}{others}, which its text does not define; add each definition to reference.py",
        shown.join(", ")
    );
    report.ask("reference.calls", Place::Reference, text);
}

/// The functions that a text calls by a name that nothing in it binds and Python does not know, sorted.
pub(crate) fn undefined(module: &Module) -> BTreeSet<&str> {
    let called: BTreeSet<&str> =
        module.calls().into_iter().filter_map(|(_, call)| name(&call.function)).collect();
    let mut bound = BTreeSet::new();
    for statement in module.all_statements() {
        bind(statement, &mut bound);
    }
    if bound.contains(ANY) || called.iter().any(|name| BINDS_BY_TEXT.contains(name)) {
        return BTreeSet::new();
    }
    called.into_iter().filter(|name| !bound.contains(name) && !is_built_in(name)).collect()
}

/// What `from module import *` binds.
const ANY: &str = "*";

/// Functions of Python that can bind names that are not in the syntax.
const BINDS_BY_TEXT: [&str; 4] = ["exec", "globals", "locals", "vars"];

fn name(expression: &Expression) -> Option<&str> {
    let ExpressionKind::Name(name) = &expression.kind else { return None };
    Some(name)
}

/// Adds the names that a statement binds, without those of statements inside it.
fn bind<'m>(statement: &'m Statement, bound: &mut BTreeSet<&'m str>) {
    match &statement.kind {
        StatementKind::Import(imports) => {
            bound.extend(imports.iter().map(|import| import.name.as_str()));
        }
        StatementKind::Function(function) => {
            bound.insert(&function.name);
            bound.extend(function.parameters.iter().map(|parameter| parameter.name.as_str()));
        }
        StatementKind::Class(class) => {
            bound.insert(&class.name);
        }
        StatementKind::Assign { targets, .. }
        | StatementKind::With { targets, .. }
        | StatementKind::Other { parts: targets, .. } => bind_all(targets, bound),
        StatementKind::AugmentedAssign { target, .. } | StatementKind::For { target, .. } => {
            bind_all(std::slice::from_ref(target), bound);
        }
        StatementKind::Expression(_)
        | StatementKind::Return(_)
        | StatementKind::If { .. }
        | StatementKind::Assert(_)
        | StatementKind::Pass => {}
    }
    for expression in statement.all_expressions() {
        // Comprehensions, `lambda`, `name := value`: which of their parts bind is not distinguished.
        if let ExpressionKind::Other { parts, .. } = &expression.kind {
            bind_all(parts, bound);
        }
    }
}

fn bind_all<'m>(targets: &'m [Expression], bound: &mut BTreeSet<&'m str>) {
    for target in targets {
        bound.extend(name(target));
        if let ExpressionKind::Tuple(inner) | ExpressionKind::List(inner) = &target.kind {
            bind_all(inner, bound);
        }
        if let ExpressionKind::Starred(inner) = &target.kind {
            bind_all(std::slice::from_ref(inner), bound);
        }
    }
}

/// Whether Python defines a function or class of this name in every module.
fn is_built_in(name: &str) -> bool {
    let is_special = name.starts_with("__") && name.ends_with("__");
    is_special
        || ["Error", "Warning"].iter().any(|end| name.ends_with(end))
        || BUILT_IN.contains(&name)
}

/// Functions and classes of the module `builtins`, without errors and warnings.
#[rustfmt::skip]
const BUILT_IN: &[&str] = &[
    "BaseException", "BaseExceptionGroup", "Exception", "ExceptionGroup", "GeneratorExit", "KeyboardInterrupt",
    "StopAsyncIteration", "StopIteration", "SystemExit", "abs", "aiter", "all", "anext", "any", "ascii", "bin", "bool",
    "breakpoint", "bytearray", "bytes", "callable", "chr", "classmethod", "compile", "complex", "delattr", "dict",
    "dir", "divmod", "enumerate", "eval", "exec", "exit", "filter", "float", "format", "frozenset", "getattr",
    "globals", "hasattr", "hash", "help", "hex", "id", "input", "int", "isinstance", "issubclass", "iter", "len",
    "list", "locals", "map", "max", "memoryview", "min", "next", "object", "oct", "open", "ord", "pow", "print",
    "property", "quit", "range", "repr", "reversed", "round", "set", "setattr", "slice", "sorted", "staticmethod",
    "str", "sum", "super", "tuple", "type", "vars", "zip",
];
