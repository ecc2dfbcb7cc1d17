//! Runs the statements of a model on sizes and shapes.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use lightbench_python_source::{
    Class, Constants, Expression, ExpressionKind, Function, Module, ParameterKind, Statement,
    StatementKind, Value as Constant,
};

use crate::arguments::Arguments;
use crate::dimension::{Dimension, Sizes};
use crate::trace::{Step, Trace};
use crate::value::{Attributes, Value};

/// Statements and expressions that are evaluated at most.
const MOST_STEPS: usize = 100_000;

/// Nesting of statements, expressions and calls together.
const DEEPEST: usize = 120;

/// Rounds of a loop.
const MOST_ROUNDS: i128 = 1000;

/// What earlier runs found out about sizes.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// Names of sizes that keep the values of the task.
    pub(crate) fixed: BTreeSet<String>,
    /// Sizes inside tuples that equal another size, by their names.
    pub(crate) equal: BTreeMap<String, String>,
}

/// The state of one run.
pub(crate) struct Interpreter<'module> {
    pub(crate) module: &'module Module,
    /// The class of the model.
    pub(crate) class: &'module Class,
    settled: &'module Settled,
    /// Module-level names.
    globals: BTreeMap<String, Value>,
    /// The sizes of the task.
    pub(crate) sizes: Sizes,
    /// Sizes that are elements of a tuple, which no name of the file denotes.
    pub(crate) unnamed: BTreeSet<String>,
    pub(crate) attributes: Attributes,
    pub(crate) trace: Trace,
    depth: usize,
}

pub(crate) type Locals = BTreeMap<String, Value>;

impl<'module> Interpreter<'module> {
    /// Runs the module-level statements. Integers written there are sizes, unless they are settled.
    pub(crate) fn new(
        module: &'module Module,
        class: &'module Class,
        settled: &'module Settled,
    ) -> Step<Self> {
        let mut interpreter = Self {
            module,
            class,
            settled,
            globals: BTreeMap::new(),
            sizes: Sizes::new(),
            unnamed: BTreeSet::new(),
            attributes: Attributes::default(),
            trace: Trace::default(),
            depth: 0,
        };
        for statement in &module.statements {
            interpreter.global(statement)?;
        }
        Ok(interpreter)
    }

    fn global(&mut self, statement: &Statement) -> Step<()> {
        self.trace.line = statement.line;
        let StatementKind::Assign { targets, value: Some(value) } = &statement.kind else {
            return Ok(());
        };
        let constant = Constants::default().evaluate(value);
        for target in targets {
            match (&target.kind, &constant) {
                (ExpressionKind::Name(name), Some(constant)) => {
                    let value = self.sized(name, constant, Naming::Named);
                    self.globals.insert(name.clone(), value);
                }
                (ExpressionKind::Tuple(names), Some(Constant::Tuple(constants)))
                    if names.len() == constants.len() =>
                {
                    for (name, constant) in names.iter().zip(constants) {
                        if let ExpressionKind::Name(name) = &name.kind {
                            let value = self.sized(name, constant, Naming::Named);
                            self.globals.insert(name.clone(), value);
                        }
                    }
                }
                // What no task needs may be anything.
                _ => match self.expression(value, &Locals::new()) {
                    Ok(value) => self.assign(target, value, None)?,
                    Err(crate::trace::Stop::Refused(_)) => {}
                    Err(stop) => return Err(stop),
                },
            }
        }
        Ok(())
    }

    /// The value of a constant, in which integers of at least 1 are sizes.
    fn sized(&mut self, name: &str, constant: &Constant, naming: Naming) -> Value {
        match constant {
            Constant::Integer(value) if *value >= 1 && !self.settled.fixed.contains(name) => {
                if let Some(other) = self.settled.equal.get(name) {
                    return Value::Integer(Dimension::axis(other));
                }
                self.sizes.insert(name.to_owned(), *value);
                if naming == Naming::Element {
                    self.unnamed.insert(name.to_owned());
                }
                Value::Integer(Dimension::axis(name))
            }
            Constant::Integer(value) => Value::Integer(Dimension::from(*value)),
            Constant::Float(value) => Value::Real(Some(*value)),
            Constant::Text(text) => Value::Text(text.clone()),
            Constant::Boolean(value) => Value::Boolean(Some(*value)),
            Constant::None => Value::None,
            Constant::Tuple(all) | Constant::List(all) => {
                let all = all.iter().enumerate();
                let all = all.map(|(index, each)| {
                    self.sized(&format!("{name}_{index}"), each, Naming::Element)
                });
                Value::Sequence(all.collect())
            }
        }
    }

    /// Calls a function of the file.
    pub(crate) fn call_function(
        &mut self,
        function: &Function,
        arguments: &Arguments,
    ) -> Step<Value> {
        let mut locals = self.bound(function, arguments)?;
        Ok(self.block(&function.body, &mut locals)?.unwrap_or(Value::None))
    }

    fn bound(&mut self, function: &Function, arguments: &Arguments) -> Step<Locals> {
        let mut locals = Locals::new();
        let mut positional = arguments.positional.iter();
        for parameter in &function.parameters {
            let name = &parameter.name;
            let passed = match parameter.kind {
                ParameterKind::Plain => positional.next().or_else(|| arguments.named.get(name)),
                ParameterKind::KeywordOnly => arguments.named.get(name),
                ParameterKind::Rest => {
                    locals.insert(
                        name.clone(),
                        Value::Sequence(positional.by_ref().cloned().collect()),
                    );
                    continue;
                }
                ParameterKind::Keywords => continue,
            };
            let value = match (passed, &parameter.default) {
                (Some(value), _) => value.clone(),
                (None, Some(default)) => self.expression(default, &Locals::new())?,
                (None, None) => {
                    let function = &function.name;
                    return self.trace.refuse(format!("`{function}` is called without `{name}`"));
                }
            };
            locals.insert(name.clone(), value);
        }
        match positional.next() {
            Some(_) => {
                self.trace.refuse(format!("`{}` is called with too many arguments", function.name))
            }
            None => Ok(locals),
        }
    }

    /// Runs statements; a value is that of `return`.
    fn block(&mut self, statements: &[Statement], locals: &mut Locals) -> Step<Option<Value>> {
        for statement in statements {
            if let Some(value) = self.nested(|this| this.statement(statement, locals))? {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// Runs one level deeper, if there are levels and steps left.
    pub(crate) fn nested<T>(&mut self, step: impl FnOnce(&mut Self) -> Step<T>) -> Step<T> {
        self.trace.steps += 1;
        if self.depth >= DEEPEST || self.trace.steps > MOST_STEPS {
            return self
                .trace
                .refuse("calls and expressions that are nested too deeply, or run too long");
        }
        self.depth += 1;
        let result = step(self);
        self.depth -= 1;
        result
    }

    fn statement(&mut self, statement: &Statement, locals: &mut Locals) -> Step<Option<Value>> {
        self.trace.line = statement.line;
        match &statement.kind {
            StatementKind::Assign { targets, value: Some(value) } => {
                let value = self.expression(value, locals)?;
                for target in targets {
                    self.assign(target, value.clone(), Some(&mut *locals))?;
                }
            }
            StatementKind::AugmentedAssign { target, operator, value } => {
                let (left, right) =
                    (self.expression(target, locals)?, self.expression(value, locals)?);
                let Some(operator) = operator else {
                    return self.trace.refuse("an unknown operator");
                };
                let value = self.binary(*operator, &left, &right)?;
                self.assign(target, value, Some(&mut *locals))?;
            }
            StatementKind::Expression(value) => {
                if !matches!(value.kind, ExpressionKind::Text { .. }) {
                    self.expression(value, locals)?;
                }
            }
            StatementKind::Return(Some(value)) => return self.expression(value, locals).map(Some),
            StatementKind::Return(None) => return Ok(Some(Value::None)),
            StatementKind::If { condition, then, otherwise } => {
                let branch = if self.condition(condition, locals)? { then } else { otherwise };
                return self.block(branch, locals);
            }
            StatementKind::For { target, iterable, body } => {
                return self.repeated((target, iterable), body, locals);
            }
            StatementKind::With { body, .. } => return self.block(body, locals),
            StatementKind::Function(function) => {
                locals.insert(function.name.clone(), Value::Function(Rc::new(function.clone())));
            }
            StatementKind::Assign { value: None, .. }
            | StatementKind::Import(_)
            | StatementKind::Assert(_)
            | StatementKind::Pass => {}
            StatementKind::Class(_) => return self.trace.refuse("a class inside a function"),
            StatementKind::Other { what, .. } => {
                return self
                    .trace
                    .refuse(format!("a statement that is not followed: {}", words(what)));
            }
        }
        Ok(None)
    }

    fn repeated(
        &mut self,
        (target, iterable): (&Expression, &Expression),
        body: &[Statement],
        locals: &mut Locals,
    ) -> Step<Option<Value>> {
        let iterated = self.expression(iterable, locals)?;
        let Some(all) = iterated.elements() else {
            return self.trace.refuse(format!("a loop over {}", iterated.kind()));
        };
        for value in all {
            self.assign(target, value, Some(&mut *locals))?;
            if let Some(value) = self.block(body, locals)? {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// The integers of `range(…)`.
    pub(crate) fn range(&self, arguments: &Arguments) -> Step<Value> {
        let mut bounds = Vec::new();
        for position in 0..arguments.positional.len() {
            let bound = arguments.required(&self.trace, position, "range")?;
            bounds.push(self.trace.fixed(&bound)?);
        }
        let (first, last) = match bounds.as_slice() {
            [last] => (0, *last),
            [first, last] => (*first, *last),
            _ => return self.trace.refuse("`range` with a step"),
        };
        if last - first > MOST_ROUNDS {
            return self.trace.refuse(format!("a loop of {} rounds", last - first));
        }
        Ok(Value::Sequence(
            (first..last).map(|each| Value::Integer(Dimension::from(each))).collect(),
        ))
    }

    fn assign(
        &mut self,
        target: &Expression,
        value: Value,
        mut locals: Option<&mut Locals>,
    ) -> Step<()> {
        match (&target.kind, value) {
            (ExpressionKind::Name(name), value) => {
                match locals {
                    Some(locals) => locals.insert(name.clone(), value),
                    None => self.globals.insert(name.clone(), value),
                };
                Ok(())
            }
            (
                ExpressionKind::Tuple(targets) | ExpressionKind::List(targets),
                Value::Sequence(all),
            ) if targets.len() == all.len() => {
                for (target, value) in targets.iter().zip(all) {
                    self.assign(target, value, locals.as_deref_mut())?;
                }
                Ok(())
            }
            (ExpressionKind::Attribute { value: owner, name }, value)
                if owner.dotted_name().as_deref() == Some("self") =>
            {
                self.attributes.set(name, value);
                Ok(())
            }
            (_, value) => {
                self.trace.refuse(format!("an assignment of {} to this target", value.kind()))
            }
        }
    }

    /// The value of a name.
    pub(crate) fn name(&mut self, name: &str, locals: &Locals) -> Step<Value> {
        if let Some(value) = locals.get(name).or_else(|| self.globals.get(name)) {
            return Ok(value.clone());
        }
        if let Some(function) = self.module.function(name) {
            return Ok(Value::Function(Rc::new(function.clone())));
        }
        if self.module.imports().any(|import| import.name == name) {
            return Ok(Value::Library(self.module.full_name(name)));
        }
        Ok(Value::Library(format!("builtins.{name}")))
    }
}

/// Whether a size has a name in the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    Named,
    Element,
}

/// A kind of the grammar in words.
pub(crate) fn words(kind: &str) -> String {
    kind.replace('_', " ")
}
