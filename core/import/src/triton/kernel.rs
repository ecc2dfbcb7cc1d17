//! Kernels of a Triton file: parameters, and which pointers they read and write.

use std::collections::{BTreeMap, BTreeSet};

use lightbench_python_source::{
    Call, Expression, ExpressionKind, Function, Module, ParameterKind, StatementKind,
};

use super::autotune::Tuning;

/// A function with `@triton.jit`.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    pub(super) name: String,
    pub(super) parameters: Vec<KernelParameter>,
    pub(super) tuning: Tuning,
}

#[derive(Clone, Debug)]
pub(super) struct KernelParameter {
    pub(super) name: String,
    pub(super) is_constexpr: bool,
    pub(super) has_default: bool,
    pub(super) access: Access,
}

/// What a kernel does with the elements behind a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) reads: bool,
    pub(super) writes: bool,
}

impl Access {
    pub(super) fn is_pointer(self) -> bool {
        self.reads || self.writes
    }

    fn and(self, other: Self) -> Self {
        Self { reads: self.reads || other.reads, writes: self.writes || other.writes }
    }
}

/// Calls of functions of the file that are followed.
const DEEPEST: usize = 8;

/// The kernels of a file, by name.
pub(super) fn kernels(module: &Module) -> BTreeMap<String, Kernel> {
    let functions = module.functions().into_iter().filter(|each| is_jit(module, each));
    functions.map(|function| (function.name.clone(), kernel(module, function))).collect()
}

/// The kernel that a call launches: `kernel[grid](…)`.
pub(super) fn launched<'a>(
    kernels: &'a BTreeMap<String, Kernel>,
    call: &Call,
) -> Option<&'a Kernel> {
    let ExpressionKind::Subscript { value, .. } = &call.function.kind else { return None };
    let ExpressionKind::Name(name) = &value.kind else { return None };
    kernels.get(name)
}

/// Whether a function has the decorator `@triton.jit`, with or without arguments.
pub(super) fn is_jit(module: &Module, function: &Function) -> bool {
    function.decorators.iter().any(|decorator| decorator_name(module, decorator) == "triton.jit")
}

/// The full name of a decorator, called or not.
pub(super) fn decorator_name(module: &Module, decorator: &Expression) -> String {
    let named = if let ExpressionKind::Call(call) = &decorator.kind {
        call.function.dotted_name()
    } else {
        decorator.dotted_name()
    };
    let full = module.full_name(&named.unwrap_or_default());
    // The name before modules were moved into `runtime`.
    full.replace("triton.runtime.", "triton.")
}

fn kernel(module: &Module, function: &Function) -> Kernel {
    let parameters = function
        .parameters
        .iter()
        .filter(|each| matches!(each.kind, ParameterKind::Plain | ParameterKind::KeywordOnly));
    let parameters = parameters.map(|parameter| KernelParameter {
        name: parameter.name.clone(),
        is_constexpr: parameter
            .annotation
            .as_deref()
            .is_some_and(|text| text.contains("constexpr")),
        has_default: parameter.default.is_some(),
        access: access(module, function, &parameter.name, 0),
    });
    Kernel {
        name: function.name.clone(),
        parameters: parameters.collect(),
        tuning: Tuning::new(module, function),
    }
}

/// What a function does with the elements behind a parameter.
fn access(module: &Module, function: &Function, parameter: &str, depth: usize) -> Access {
    let pointers = pointers(function, parameter);
    let statements = function.all_statements().into_iter();
    let expressions = statements.flat_map(|statement| statement.all_expressions());
    let calls = expressions.filter_map(|expression| {
        let ExpressionKind::Call(call) = &expression.kind else { return None };
        Some(&**call)
    });
    calls.fold(Access::default(), |all, call| all.and(call_access(module, call, &pointers, depth)))
}

/// The names that hold addresses computed from a parameter.
fn pointers(function: &Function, parameter: &str) -> BTreeSet<String> {
    let mut known = BTreeSet::from([parameter.to_owned()]);
    let statements = function.all_statements();
    loop {
        let before = known.len();
        for statement in &statements {
            let StatementKind::Assign { targets, value: Some(value) } = &statement.kind else {
                continue;
            };
            for target in targets {
                if let (ExpressionKind::Tuple(names), ExpressionKind::Tuple(values)) =
                    (&target.kind, &value.kind)
                {
                    for (name, value) in names.iter().zip(values) {
                        learn(&mut known, name, value);
                    }
                } else {
                    learn(&mut known, target, value);
                }
            }
        }
        if known.len() == before {
            return known;
        }
    }
}

fn learn(known: &mut BTreeSet<String>, target: &Expression, value: &Expression) {
    if let ExpressionKind::Name(name) = &target.kind
        && is_address(value, known)
    {
        known.insert(name.clone());
    }
}

/// Functions of Triton that return the address, or a view of the memory, that they receive.
const PASSES_ADDRESS: [&str; 9] = [
    "make_block_ptr",
    "advance",
    "make_tensor_descriptor",
    "multiple_of",
    "max_contiguous",
    "broadcast_to",
    "expand_dims",
    "where",
    "to",
];

/// Whether an expression is an address computed from known ones.
fn is_address(expression: &Expression, known: &BTreeSet<String>) -> bool {
    if let ExpressionKind::Name(name) = &expression.kind {
        known.contains(name)
    } else if let ExpressionKind::Binary { left, right, .. }
    | ExpressionKind::Conditional { then: left, otherwise: right, .. } = &expression.kind
    {
        is_address(left, known) || is_address(right, known)
    } else if let ExpressionKind::Subscript { value, .. } = &expression.kind {
        is_address(value, known)
    } else if let ExpressionKind::Call(call) = &expression.kind {
        let mut arguments = call.arguments.iter();
        PASSES_ADDRESS.contains(&method(call).as_str())
            && (has_address(call, known)
                || arguments.any(|argument| is_address(&argument.value, known)))
    } else {
        false
    }
}

/// Whether a method is called on an address.
fn has_address(call: &Call, known: &BTreeSet<String>) -> bool {
    let ExpressionKind::Attribute { value, .. } = &call.function.kind else { return false };
    is_address(value, known)
}

/// The last part of the name of what is called.
pub(super) fn method(call: &Call) -> String {
    if let ExpressionKind::Attribute { name, .. } | ExpressionKind::Name(name) = &call.function.kind
    {
        name.clone()
    } else {
        String::new()
    }
}

fn call_access(module: &Module, call: &Call, pointers: &BTreeSet<String>, depth: usize) -> Access {
    let name = method(call);
    if let ExpressionKind::Name(called) = &call.function.kind
        && let Some(function) = module.function(called)
    {
        return followed(module, call, function, pointers, depth);
    }
    // Of `desc.store(…)` the memory is the receiver, of `tl.store(…)` the first argument.
    let first = call.argument(0, "pointer").is_some_and(|each| is_address(each, pointers));
    if !first && !has_address(call, pointers) {
        return Access::default();
    }
    match name.as_str() {
        "load" | "gather" => Access { reads: true, writes: false },
        "store" | "scatter" => Access { reads: false, writes: true },
        _ if name.starts_with("atomic_") => Access { reads: true, writes: true },
        _ => Access::default(),
    }
}

/// What a function of the file does with addresses that it receives.
fn followed(
    module: &Module,
    call: &Call,
    function: &Function,
    pointers: &BTreeSet<String>,
    depth: usize,
) -> Access {
    if depth >= DEEPEST {
        return Access { reads: true, writes: true };
    }
    let positions = function.parameters.iter().enumerate();
    positions.fold(Access::default(), |all, (position, parameter)| {
        let given = call.argument(position, &parameter.name);
        match given.is_some_and(|given| is_address(given, pointers)) {
            true => all.and(access(module, function, &parameter.name, depth + 1)),
            false => all,
        }
    })
}

/// Whether an element of a result can be a sum of several numbers.
pub(super) fn may_sum(module: &Module, kernels: &BTreeMap<String, Kernel>) -> bool {
    kernels.keys().filter_map(|name| module.function(name)).any(|function| {
        let statements = function.all_statements();
        let has_loop = statements.iter().any(|statement| {
            matches!(&statement.kind, StatementKind::For { .. })
                || matches!(&statement.kind, StatementKind::Other { what, .. } if what == "while_statement")
        });
        let mut expressions = statements.iter().flat_map(|statement| statement.all_expressions());
        let sums = ["sum", "dot", "dot_scaled", "reduce", "associative_scan", "cumsum", "cumprod"];
        has_loop
            || expressions.any(|expression| {
                let ExpressionKind::Call(call) = &expression.kind else { return false };
                let name = method(call);
                sums.contains(&name.as_str()) || name.starts_with("atomic_")
            })
    })
}
