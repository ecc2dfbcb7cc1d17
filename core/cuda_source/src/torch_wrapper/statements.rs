//! Statements of host code: declarations, assignments, branches, returns.

use std::collections::BTreeMap;

use tree_sitter::Node;

use crate::syntax::{all, bare, children, named, part};

use super::condition::Condition;
use super::description::NoteKind;
use super::functions::{kind_of, type_text};
use super::integer::Integer;
use super::reader::Reader;
use super::refusal::{Refusal, Why};
use super::text::Text;
use super::value::{Flow, Kind, Local, Value};

impl Reader<'_> {
    /// Reads a block in a scope of its own; the value that it returns, if it does.
    pub(super) fn block(
        &mut self,
        text: Text<'_>,
        block: Node<'_>,
    ) -> Result<Option<Value>, Refusal> {
        match self.scope(text, block)? {
            Flow::Next => Ok(None),
            Flow::Return(value) => Ok(value),
        }
    }

    pub(super) fn scope(&mut self, text: Text<'_>, block: Node<'_>) -> Result<Flow, Refusal> {
        self.frame.scopes.push(BTreeMap::new());
        let flow = self.statements(text, block);
        self.frame.scopes.pop();
        flow
    }

    /// Reads statements in the present scope.
    pub(super) fn statements(&mut self, text: Text<'_>, block: Node<'_>) -> Result<Flow, Refusal> {
        let list = if block.kind() == "compound_statement" { named(block) } else { vec![block] };
        for statement in list {
            if let Flow::Return(value) = self.statement(text, statement)? {
                return Ok(Flow::Return(value));
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, text: Text<'_>, node: Node<'_>) -> Result<Flow, Refusal> {
        self.nested(text, node, |reader| match node.kind() {
            "expression_statement" => {
                if let Some(expression) = named(node).first() {
                    reader.expression_statement(text, *expression)?;
                }
                Ok(Flow::Next)
            }
            "declaration" => reader.declaration(text, node).map(|()| Flow::Next),
            "alias_declaration" | "type_definition" => {
                reader.type_alias(text, node);
                Ok(Flow::Next)
            }
            "compound_statement" => reader.scope(text, node),
            "if_statement" => reader.branch(text, node),
            "return_statement" => {
                let value = named(node).first().map(|value| reader.value(text, *value));
                Ok(Flow::Return(value.transpose()?))
            }
            "comment" | ";" | "static_assert_declaration" | "using_declaration" => Ok(Flow::Next),
            "preproc_ifdef" | "preproc_if" | "preproc_else" => {
                Err(text.refused(node, Why::UnknownStatement))
            }
            "throw_statement" => Err(text.refused(node, Why::AlwaysFails)),
            "for_statement" | "while_statement" | "do_statement" | "for_range_loop" => {
                Err(text.refused(node, Why::Loop))
            }
            "switch_statement" => Err(text.refused(node, Why::Branch)),
            "ERROR" => Err(text.refused(node, Why::Syntax)),
            _ => Err(text.refused(node, Why::UnknownStatement)),
        })
    }

    fn expression_statement(&mut self, text: Text<'_>, node: Node<'_>) -> Result<(), Refusal> {
        match node.kind() {
            "assignment_expression" => self.assignment(text, node),
            // `std::cerr << …` prints.
            "binary_expression" if prints(text, node) => {
                self.note(text, node, NoteKind::HostOnly);
                Ok(())
            }
            // `TVM_FFI_ICHECK(condition) << message`.
            "binary_expression" if streams_into_check(text, node) => {
                named(node).first().map_or(Ok(()), |check| self.expression_statement(text, *check))
            }
            "comma_expression" => {
                for part in named(node) {
                    self.expression_statement(text, part)?;
                }
                Ok(())
            }
            _ => self.value(text, node).map(drop),
        }
    }

    fn assignment(&mut self, text: Text<'_>, node: Node<'_>) -> Result<(), Refusal> {
        let unknown = || text.refused(node, Why::UnknownStatement);
        let (Some(left), Some(right)) = (part(node, "left"), part(node, "right")) else {
            return Err(unknown());
        };
        let operator = part(node, "operator").map_or("=", |operator| text.of(operator));
        let mut value = self.value(text, right)?;
        if operator != "=" {
            let before = self.value(text, left)?;
            let symbol = operator.trim_end_matches('=');
            value = self.combined(text, node, symbol, before, value)?;
        }
        if left.kind() == "field_expression" {
            return self.assign_extent(text, left, value);
        }
        if left.kind() != "identifier" {
            return Err(unknown());
        }
        let name = text.of(left);
        let kind = self.frame.local(name).map(|local| local.kind);
        let kind = kind.ok_or_else(|| text.refused(left, Why::UnknownName))?;
        let value = self.converted(text, right, kind, value)?;
        if let Some(local) = self.frame.local_mut(name) {
            local.value = value;
        }
        Ok(())
    }

    /// `block.x = 128`.
    fn assign_extent(
        &mut self,
        text: Text<'_>,
        left: Node<'_>,
        value: Value,
    ) -> Result<(), Refusal> {
        let unknown = || text.refused(left, Why::UnknownStatement);
        let integer = self.integer(text, left, value)?;
        let name = part(left, "argument").map_or("", |name| text.of(name));
        let field = part(left, "field").map_or("", |field| text.of(field));
        let index = ["x", "y", "z"].iter().position(|axis| *axis == field);
        let local = self.frame.local_mut(name).map(|local| &mut local.value);
        if let (Some(Value::Extents(extents)), Some(index)) = (local, index) {
            extents[index] = integer;
            return Ok(());
        }
        Err(unknown())
    }

    fn type_alias(&mut self, text: Text<'_>, node: Node<'_>) {
        let name = part(node, "name").or_else(|| part(node, "declarator"));
        let kind = part(node, "type");
        if let (Some(name), Some(kind)) = (name, kind)
            && let Some(dtype) = self.named_dtype(text.of(kind))
        {
            self.frame.types.insert(text.of(name).to_owned(), dtype);
        }
    }

    fn declaration(&mut self, text: Text<'_>, node: Node<'_>) -> Result<(), Refusal> {
        let type_name = type_text(text.source, node);
        let mut cursor = node.walk();
        let declarators: Vec<Node<'_>> =
            node.children_by_field_name("declarator", &mut cursor).collect();
        if type_name.ends_with("Guard") || type_name.starts_with("OptionalCUDAGuard") {
            self.note(text, node, NoteKind::HostOnly);
            return Ok(());
        }
        for declarator in declarators {
            self.declarator(text, declarator, &type_name)?;
        }
        Ok(())
    }

    fn declarator(
        &mut self,
        text: Text<'_>,
        declarator: Node<'_>,
        type_name: &str,
    ) -> Result<(), Refusal> {
        let (target, value) = match declarator.kind() {
            "init_declarator" => (part(declarator, "declarator"), part(declarator, "value")),
            _ => (Some(declarator), None),
        };
        let unknown = || text.refused(declarator, Why::UnknownStatement);
        let mut target = target.ok_or_else(unknown)?;
        if target.kind() == "function_declarator" {
            return self.constructed(text, target, type_name);
        }
        let mut is_pointer = false;
        for _ in 0..4 {
            if matches!(target.kind(), "pointer_declarator" | "reference_declarator") {
                is_pointer |= target.kind() == "pointer_declarator";
                let inner = part(target, "declarator").or_else(|| named(target).pop());
                target = inner.ok_or_else(unknown)?;
            }
        }
        if target.kind() != "identifier" {
            return Err(unknown());
        }
        let kind = kind_of(type_name).filter(|_| !is_pointer).unwrap_or(Kind::Other);
        let value = match value {
            None if kind == Kind::Extents => extents(Vec::new()),
            None => Value::Unset,
            Some(node) => self.initial(text, node, kind, type_name)?,
        };
        self.declare(text.of(target), Local { kind, value });
        Ok(())
    }

    /// The value of an initialiser: `= x`, `(x, y)`, `{x, y}`.
    fn initial(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        kind: Kind,
        type_name: &str,
    ) -> Result<Value, Refusal> {
        if matches!(type_name, "Device" | "cudaStream_t" | "cudaError_t" | "cudaDeviceProp") {
            if self.calls_anything(text, node) {
                self.value(text, node)?;
            }
            return Ok(Value::HostOnly);
        }
        if matches!(node.kind(), "argument_list" | "initializer_list") {
            let mut values = Vec::new();
            for part in named(node) {
                values.push(self.value(text, part)?);
            }
            return match (kind, values.len()) {
                (Kind::Extents, _) => self.extents_of(text, node, values),
                (Kind::Integer | Kind::Real | Kind::Boolean, 1) => {
                    let value = values.pop().unwrap_or(Value::Unset);
                    self.converted(text, node, kind, value)
                }
                (_, 1) if node.kind() == "argument_list" => {
                    Ok(values.pop().unwrap_or(Value::Unset))
                }
                (Kind::Integer | Kind::Real | Kind::Boolean | Kind::Other, _) => {
                    Ok(Value::List(values))
                }
            };
        }
        let value = self.value(text, node)?;
        self.converted(text, node, kind, value)
    }

    /// `dim3 block(TILE, TILE);`, which the grammar reads as the declaration of a function.
    fn constructed(
        &mut self,
        text: Text<'_>,
        function: Node<'_>,
        type_name: &str,
    ) -> Result<(), Refusal> {
        let name = part(function, "declarator").map_or("", |name| text.of(name));
        let mut values = Vec::new();
        for node in part(function, "parameters").map_or_else(Vec::new, named) {
            values.push(self.name(text, node, text.of(node).trim())?);
        }
        let kind = kind_of(type_name).unwrap_or(Kind::Other);
        let value = match (kind, values.len()) {
            (Kind::Extents, _) => self.extents_of(text, function, values)?,
            (Kind::Other, _) => Value::HostOnly,
            (Kind::Integer | Kind::Real | Kind::Boolean, 1) => {
                let value = values.pop().unwrap_or(Value::Unset);
                self.converted(text, function, kind, value)?
            }
            (Kind::Integer | Kind::Real | Kind::Boolean, _) => {
                return Err(text.refused(function, Why::UnknownStatement));
            }
        };
        self.declare(name, Local { kind, value });
        Ok(())
    }

    /// A `dim3` from one to three integers.
    pub(super) fn extents_of(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        values: Vec<Value>,
    ) -> Result<Value, Refusal> {
        if let [only @ Value::Extents(_)] = values.as_slice() {
            return Ok(only.clone());
        }
        if values.len() > 3 {
            return Err(text.refused(node, Why::UnknownExpression));
        }
        let mut integers = Vec::new();
        for value in values {
            integers.push(self.integer(text, node, value)?);
        }
        Ok(extents(integers))
    }

    /// A value as a local of a kind holds it.
    fn converted(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        kind: Kind,
        value: Value,
    ) -> Result<Value, Refusal> {
        if matches!(value, Value::HostOnly | Value::Unset) {
            return Ok(value);
        }
        match kind {
            Kind::Integer => self.integer(text, node, value).map(Value::Integer),
            Kind::Real => self.real(text, node, value).map(Value::Real),
            Kind::Boolean if matches!(value, Value::BooleanParameter(_)) => Ok(value),
            Kind::Boolean => self.condition_of(text, node, value).map(Value::Boolean),
            Kind::Extents => self.extents_of(text, node, vec![value]),
            Kind::Other => Ok(value),
        }
    }

    fn branch(&mut self, text: Text<'_>, node: Node<'_>) -> Result<Flow, Refusal> {
        let (Some(condition), Some(taken)) = (part(node, "condition"), part(node, "consequence"))
        else {
            return Err(text.refused(node, Why::Syntax));
        };
        let other = part(node, "alternative").and_then(|clause| match clause.kind() {
            "else_clause" => named(clause).pop(),
            _ => Some(clause),
        });
        let value = self.value(text, bare(condition_value(condition)))?;
        let condition = self.condition_of(text, condition, value)?;
        match self.decide(text, node, &condition)? {
            Some(true) => {
                if other.is_some() {
                    self.note(text, node, NoteKind::OtherBranch);
                }
                return self.scope(text, taken);
            }
            Some(false) => {
                self.note(text, node, NoteKind::OtherBranch);
                return other.map_or(Ok(Flow::Next), |other| self.scope(text, other));
            }
            None => {}
        }
        if condition == Condition::Unknown && is_harmless(text, taken) {
            self.note(text, node, NoteKind::HostOnly);
        } else if condition != Condition::Unknown && is_harmless(text, taken) && ends(text, taken) {
            self.assume(text, node, condition.negated())?;
        } else if let Some(name) = single_assignment(text, taken)
            && other.is_none()
        {
            return self.conditional_assignment(text, node, taken, name, &condition);
        } else {
            return Err(text.refused(node, Why::Branch));
        }
        other.map_or(Ok(Flow::Next), |other| self.scope(text, other))
    }

    /// `if (threads > 1024) threads = 1024;`
    fn conditional_assignment(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        taken: Node<'_>,
        name: &str,
        condition: &Condition,
    ) -> Result<Flow, Refusal> {
        let before = self.frame.local(name).cloned();
        let before = before.ok_or_else(|| text.refused(node, Why::UnknownName))?;
        self.scope(text, taken)?;
        let after = self.frame.local(name).map(|local| local.value.clone());
        if let (Value::Integer(before), Some(Value::Integer(after))) = (before.value, after)
            && let Some(chosen) = super::expressions::selected(condition, after, before)
            && let Some(local) = self.frame.local_mut(name)
        {
            local.value = Value::Integer(chosen);
            return Ok(Flow::Next);
        }
        Err(text.refused(node, Why::Branch))
    }

    /// Whether an initialiser contains a call that is not only one of the host.
    fn calls_anything(&self, text: Text<'_>, node: Node<'_>) -> bool {
        let calls = all(node, &["call_expression"]);
        calls.iter().any(|call| {
            let name = part(*call, "function").map_or("", |name| text.of(name));
            name.contains("ynchronize") || name.starts_with("cudaFunc")
        })
    }
}

/// One to three extents, filled up with 1.
fn extents(mut integers: Vec<Integer>) -> Value {
    integers.resize(3, Integer::Literal(1));
    match <[Integer; 3]>::try_from(integers) {
        Ok(extents) => Value::Extents(extents),
        Err(_longer) => Value::Unset,
    }
}

fn condition_value(clause: Node<'_>) -> Node<'_> {
    part(clause, "value").unwrap_or(clause)
}

fn prints(text: Text<'_>, node: Node<'_>) -> bool {
    let words = text.of(node).trim_start();
    ["std::cout", "std::cerr", "cout", "cerr"].iter().any(|stream| words.starts_with(stream))
}

/// Whether an expression writes a message into a check of TVM FFI.
fn streams_into_check(text: Text<'_>, node: Node<'_>) -> bool {
    let is_shift = part(node, "operator").is_some_and(|operator| text.of(operator) == "<<");
    let words = text.of(node).trim_start();
    is_shift && ["TVM_FFI_CHECK", "TVM_FFI_ICHECK"].iter().any(|check| words.starts_with(check))
}

/// Whether a branch only prints, throws or returns.
fn is_harmless(text: Text<'_>, branch: Node<'_>) -> bool {
    let launches = all(branch, &["kernel_call_syntax", "for_statement", "while_statement"]);
    let statements =
        if branch.kind() == "compound_statement" { named(branch) } else { vec![branch] };
    launches.is_empty()
        && statements.iter().all(|statement| match statement.kind() {
            "return_statement" | "throw_statement" => true,
            "expression_statement" => {
                let inner = named(*statement).first().copied();
                inner.is_some_and(|inner| match inner.kind() {
                    "call_expression" => {
                        let name = part(inner, "function").map_or("", |name| text.of(name));
                        aborts(text, inner, name) || name.ends_with("printf") || name == "exit"
                    }
                    "binary_expression" => prints(text, inner),
                    "throw_expression" => true,
                    _ => false,
                })
            }
            _ => statement.kind().starts_with("throw"),
        })
}

/// Whether a branch leaves the function.
fn ends(text: Text<'_>, branch: Node<'_>) -> bool {
    let leaves = all(branch, &["return_statement", "throw_statement", "throw_expression"]);
    let calls = all(branch, &["call_expression"]);
    !leaves.is_empty()
        || calls.iter().any(|call| {
            let name = part(*call, "function").map_or("", |name| text.of(name));
            aborts(text, *call, name) || name == "exit"
        })
}

/// `AT_ERROR(…)`, `TORCH_CHECK(false, …)`.
fn aborts(text: Text<'_>, call: Node<'_>, name: &str) -> bool {
    let first = part(call, "arguments").and_then(|list| named(list).first().copied());
    name == "AT_ERROR"
        || (name.starts_with("TORCH_CHECK") && first.is_some_and(|first| text.of(first) == "false"))
}

/// The name that a branch assigns to, if it does nothing else.
fn single_assignment<'text>(text: Text<'text>, branch: Node<'_>) -> Option<&'text str> {
    let statements =
        if branch.kind() == "compound_statement" { named(branch) } else { vec![branch] };
    let [only] = statements.as_slice() else { return None };
    let expression = named(*only).first().copied()?;
    let left = part(expression, "left")?;
    let is_assignment = expression.kind() == "assignment_expression" && left.kind() == "identifier";
    let plain = children(expression).iter().any(|child| child.kind() == "=");
    (is_assignment && plain).then(|| text.of(left))
}
