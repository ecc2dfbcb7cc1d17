//! Values of names that a module assigns at its top level, as far as they follow from literals.

use std::collections::BTreeMap;

use crate::arithmetic;
use crate::module::Module;
use crate::syntax::{Call, Expression, ExpressionKind, Statement, StatementKind};

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An integer.
    Integer(i128),
    /// A floating-point number.
    Float(f64),
    /// A string.
    Text(String),
    /// `True` or `False`.
    Boolean(bool),
    /// `None`.
    None,
    /// A tuple.
    Tuple(Vec<Self>),
    /// A list.
    List(Vec<Self>),
}

/// The known values of a module's names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Constants {
    values: BTreeMap<String, Value>,
}

impl Constants {
    /// The values after the last statement of the module. A name that is assigned anything unknown has none.
    #[must_use]
    pub fn new(module: &Module) -> Self {
        let mut constants = Self::default();
        for statement in &module.statements {
            constants.run(statement);
        }
        constants
    }

    /// The value of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// Gives a name a value, as an assignment does.
    pub fn set(&mut self, name: &str, value: Value) {
        self.values.insert(name.to_owned(), value);
    }

    /// All names and their values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The value of an expression; none for anything but literals, known names and arithmetic of them.
    #[must_use]
    pub fn evaluate(&self, expression: &Expression) -> Option<Value> {
        let all = |all: &[Expression]| {
            all.iter().map(|each| self.evaluate(each)).collect::<Option<Vec<_>>>()
        };
        Some(match &expression.kind {
            ExpressionKind::Integer(value) => Value::Integer(*value),
            ExpressionKind::Float(value) => Value::Float(*value),
            ExpressionKind::Text { text, .. } => Value::Text(text.clone()),
            ExpressionKind::Boolean(value) => Value::Boolean(*value),
            ExpressionKind::None => Value::None,
            ExpressionKind::Name(name) => self.get(name)?.clone(),
            ExpressionKind::Tuple(elements) => Value::Tuple(all(elements)?),
            ExpressionKind::List(elements) => Value::List(all(elements)?),
            ExpressionKind::Unary { operator, operand } => {
                arithmetic::unary(*operator, &self.evaluate(operand)?)?
            }
            ExpressionKind::Binary { operator, left, right } => {
                arithmetic::binary(*operator, &self.evaluate(left)?, &self.evaluate(right)?)?
            }
            ExpressionKind::Subscript { value, indices } => match indices.as_slice() {
                [index] => arithmetic::element(&self.evaluate(value)?, &self.evaluate(index)?)?,
                _ => return None,
            },
            ExpressionKind::Call(call) => self.call(call)?,
            ExpressionKind::Dictionary(_)
            | ExpressionKind::Attribute { .. }
            | ExpressionKind::Slice { .. }
            | ExpressionKind::Compare { .. }
            | ExpressionKind::Conditional { .. }
            | ExpressionKind::Starred(_)
            | ExpressionKind::Ellipsis
            | ExpressionKind::Other { .. } => return None,
        })
    }

    /// Built-in functions of Python with one argument, and the methods of strings that trim them.
    fn call(&self, call: &Call) -> Option<Value> {
        if let ExpressionKind::Attribute { value, name } = &call.function.kind {
            let Value::Text(text) = self.evaluate(value)? else { return None };
            return match (name.as_str(), call.arguments.is_empty()) {
                ("strip", true) => Some(Value::Text(text.trim().to_owned())),
                ("lstrip", true) => Some(Value::Text(text.trim_start().to_owned())),
                ("rstrip", true) => Some(Value::Text(text.trim_end().to_owned())),
                _ => None,
            };
        }
        let ExpressionKind::Name(name) = &call.function.kind else { return None };
        let [argument] = call.arguments.as_slice() else { return None };
        if argument.name.is_some() {
            return None;
        }
        arithmetic::built_in(name, self.evaluate(&argument.value)?)
    }

    fn run(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Assign { targets, value: Some(value) } => {
                let value = self.evaluate(value);
                for target in targets {
                    self.assign(target, value.as_ref());
                }
            }
            StatementKind::AugmentedAssign { target, operator, value } => {
                let joined = operator.and_then(|operator| {
                    arithmetic::binary(operator, &self.evaluate(target)?, &self.evaluate(value)?)
                });
                self.assign(target, joined.as_ref());
            }
            StatementKind::Import(imports) => {
                for import in imports {
                    self.values.remove(&import.name);
                }
            }
            StatementKind::Function(function) => {
                self.values.remove(&function.name);
            }
            StatementKind::Class(class) => {
                self.values.remove(&class.name);
            }
            StatementKind::If { .. }
            | StatementKind::For { .. }
            | StatementKind::With { .. }
            | StatementKind::Other { .. } => self.forget_assigned(statement),
            StatementKind::Assign { value: None, .. }
            | StatementKind::Expression(_)
            | StatementKind::Return(_)
            | StatementKind::Assert(_)
            | StatementKind::Pass => {}
        }
    }

    /// Whether the statements inside run is unknown, and so is what they assign.
    fn forget_assigned(&mut self, statement: &Statement) {
        let mut pending = vec![statement];
        while let Some(statement) = pending.pop() {
            match &statement.kind {
                StatementKind::Assign { targets, .. }
                | StatementKind::With { targets, .. }
                | StatementKind::Other { parts: targets, .. } => {
                    for target in targets {
                        self.assign(target, None);
                    }
                }
                StatementKind::AugmentedAssign { target, .. }
                | StatementKind::For { target, .. } => self.assign(target, None),
                StatementKind::Import(_)
                | StatementKind::Expression(_)
                | StatementKind::Return(_)
                | StatementKind::Function(_)
                | StatementKind::Class(_)
                | StatementKind::If { .. }
                | StatementKind::Assert(_)
                | StatementKind::Pass => {}
            }
            pending.extend(statement.inner());
        }
    }

    fn assign(&mut self, target: &Expression, value: Option<&Value>) {
        match (&target.kind, value) {
            (ExpressionKind::Name(name), Some(value)) => {
                self.values.insert(name.clone(), value.clone());
            }
            (ExpressionKind::Name(name), None) => {
                self.values.remove(name);
            }
            (ExpressionKind::Tuple(targets) | ExpressionKind::List(targets), value) => {
                let elements = match value {
                    Some(Value::Tuple(all) | Value::List(all)) if all.len() == targets.len() => {
                        all.as_slice()
                    }
                    _ => &[],
                };
                for (index, target) in targets.iter().enumerate() {
                    self.assign(target, elements.get(index));
                }
            }
            _ => {}
        }
    }
}
