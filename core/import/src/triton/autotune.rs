//! `@triton.autotune` and `@triton.heuristics`: the values that they choose for constants and options of a launch.

use lightbench_python_source::{
    Call, Constants, Expression, ExpressionKind, Function, Module, Statement, StatementKind, Value,
};

use super::kernel::decorator_name;

/// What decorators give to the launches of a kernel.
#[derive(Clone, Debug, Default)]
pub(super) struct Tuning {
    /// In the order of the text.
    pub(super) configurations: Vec<Configuration>,
    /// Configurations that are not literals, by the line of the decorator.
    pub(super) unreadable: Option<usize>,
    /// A constant and the function of the arguments that computes it.
    pub(super) heuristics: Vec<(String, Expression)>,
}

/// `triton.Config({…}, num_warps=…, num_stages=…)`: names with their values.
pub(super) type Configuration = Vec<(String, Value)>;

/// The options of a configuration besides its constants.
pub(super) const OPTIONS: [&str; 3] = ["num_warps", "num_stages", "num_ctas"];

/// Configurations that are read at most.
const MOST: usize = 4096;

/// Functions between a decorator and its list of configurations.
const DEEPEST: usize = 4;

impl Tuning {
    pub(super) fn new(module: &Module, function: &Function) -> Self {
        let mut tuning = Self::default();
        let constants = Constants::new(module);
        for decorator in &function.decorators {
            let ExpressionKind::Call(call) = &decorator.kind else { continue };
            match decorator_name(module, decorator).as_str() {
                "triton.autotune" => {
                    let configs = call.argument(0, "configs");
                    match configs.and_then(|each| configurations(module, &constants, each, 0)) {
                        Some(found) if !found.is_empty() => tuning.configurations = found,
                        Some(_) | None => tuning.unreadable = Some(decorator.line),
                    }
                }
                "triton.heuristics" => {
                    if let Some(Expression { kind: ExpressionKind::Dictionary(pairs), .. }) =
                        call.argument(0, "values")
                    {
                        tuning.heuristics.extend(pairs.iter().filter_map(|(name, value)| {
                            let ExpressionKind::Text { text, .. } = &name.kind else { return None };
                            Some((text.clone(), value.clone()))
                        }));
                    }
                }
                _ => {}
            }
        }
        tuning
    }

    /// The different values of a name, that of the first configuration first.
    pub(super) fn values(&self, name: &str) -> Vec<Value> {
        let mut found: Vec<Value> = Vec::new();
        for configuration in &self.configurations {
            let own = configuration.iter().filter(|(own, _)| own == name);
            for (_, value) in own {
                if !found.contains(value) {
                    found.push(value.clone());
                }
            }
        }
        found
    }
}

/// The configurations of an expression: a list, a comprehension, a name of the module, or a function that returns them.
fn configurations(
    module: &Module,
    constants: &Constants,
    expression: &Expression,
    depth: usize,
) -> Option<Vec<Configuration>> {
    if depth > DEEPEST {
        return None;
    }
    let kind = &expression.kind;
    if let ExpressionKind::List(all) | ExpressionKind::Tuple(all) = kind {
        return all.iter().map(|each| configuration(module, constants, each)).collect();
    }
    if let ExpressionKind::Other { what, parts } = kind {
        let (body, clauses) = parts.split_first().filter(|_| what == "list_comprehension")?;
        let mut found = Vec::new();
        comprehension(module, constants, (body, clauses), &mut found)?;
        return Some(found);
    }
    if let ExpressionKind::Binary { left, right, .. } = kind {
        let mut all = configurations(module, constants, left, depth + 1)?;
        all.extend(configurations(module, constants, right, depth + 1)?);
        return Some(all);
    }
    if let ExpressionKind::Name(name) = kind {
        return configurations(module, constants, assigned(module, name)?, depth + 1);
    }
    let ExpressionKind::Call(call) = kind else { return None };
    let ExpressionKind::Name(name) = &call.function.kind else { return None };
    if name == "list" {
        return configurations(module, constants, call.argument(0, "iterable")?, depth + 1);
    }
    returned(&module.function(name)?.body)
        .into_iter()
        .find_map(|value| configurations(module, constants, value, depth + 1))
}

/// What the module assigns last to a name at its top level.
pub(super) fn assigned<'a>(module: &'a Module, name: &str) -> Option<&'a Expression> {
    module.statements.iter().rev().find_map(|statement| {
        let StatementKind::Assign { targets, value } = &statement.kind else { return None };
        let is_own =
            |target: &Expression| matches!(&target.kind, ExpressionKind::Name(own) if own == name);
        targets.iter().any(is_own).then_some(value.as_ref()).flatten()
    })
}

/// The values that a function may return, in the order of the text.
fn returned(statements: &[Statement]) -> Vec<&Expression> {
    let mut found = Vec::new();
    for statement in statements {
        if let StatementKind::Return(Some(value)) = &statement.kind {
            found.push(value);
        } else if let StatementKind::If { then, otherwise, .. } = &statement.kind {
            found.extend(returned(then));
            found.extend(returned(otherwise));
        }
    }
    found
}

fn configuration(
    module: &Module,
    constants: &Constants,
    expression: &Expression,
) -> Option<Configuration> {
    let ExpressionKind::Call(call) = &expression.kind else { return None };
    let name = module.full_name(&call.function.dotted_name()?);
    if !["triton.Config", "triton.runtime.Config", "triton.runtime.autotuner.Config"]
        .contains(&name.as_str())
    {
        return None;
    }
    let mut found = kwargs(constants, call)?;
    for (position, option) in OPTIONS.iter().enumerate() {
        if let Some(value) = call.argument(position + 1, option) {
            found.push(((*option).to_owned(), constants.evaluate(value)?));
        }
    }
    Some(found)
}

fn kwargs(constants: &Constants, call: &Call) -> Option<Configuration> {
    let given = call.argument(0, "kwargs")?;
    if let ExpressionKind::Dictionary(pairs) = &given.kind {
        let pairs = pairs.iter().map(|(name, value)| {
            let ExpressionKind::Text { text, .. } = &name.kind else { return None };
            Some((text.clone(), constants.evaluate(value)?))
        });
        return pairs.collect();
    }
    let ExpressionKind::Call(call) = &given.kind else { return None };
    if !matches!(&call.function.kind, ExpressionKind::Name(name) if name == "dict") {
        return None;
    }
    let named = call.arguments.iter();
    named
        .map(|argument| Some((argument.name.clone()?, constants.evaluate(&argument.value)?)))
        .collect()
}

/// Runs the `for` clauses of a comprehension over lists of literals; a condition that cannot be evaluated keeps all.
fn comprehension(
    module: &Module,
    constants: &Constants,
    (body, clauses): (&Expression, &[Expression]),
    found: &mut Vec<Configuration>,
) -> Option<()> {
    if found.len() >= MOST {
        return None;
    }
    let Some((clause, rest)) = clauses.split_first() else {
        found.push(configuration(module, constants, body)?);
        return Some(());
    };
    let ExpressionKind::Other { what, parts } = &clause.kind else { return None };
    if what == "if_clause" {
        let keeps = parts.first().and_then(|condition| constants.evaluate(condition));
        return match keeps {
            Some(Value::Boolean(false)) => Some(()),
            Some(_) | None => comprehension(module, constants, (body, rest), found),
        };
    }
    let [target, iterable] = parts.as_slice() else { return None };
    let ExpressionKind::Name(name) = &target.kind else { return None };
    let (Value::List(values) | Value::Tuple(values)) = constants.evaluate(iterable)? else {
        return None;
    };
    for value in values {
        let mut inner = constants.clone();
        inner.set(name, value);
        comprehension(module, &inner, (body, rest), found)?;
    }
    Some(())
}
