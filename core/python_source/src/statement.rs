//! Nodes of the syntax tree to statements.

use tree_sitter::Node;

use crate::expression::{Reader, named};
use crate::parse::{DEEPEST, line};
use crate::syntax::{
    BinaryOperator, Class, Function, Import, Parameter, ParameterKind, Statement, StatementKind,
};

impl Reader<'_> {
    /// The statements of a block or module.
    pub(crate) fn statements(self, block: Node<'_>, depth: usize) -> Vec<Statement> {
        named(block).into_iter().map(|node| self.statement(node, depth)).collect()
    }

    fn statement(self, node: Node<'_>, depth: usize) -> Statement {
        let kind = match depth < DEEPEST {
            true => self.statement_kind(node, depth + 1),
            false => {
                let what = format!("nesting beyond {DEEPEST} levels");
                Some(StatementKind::Other { what, parts: Vec::new(), body: Vec::new() })
            }
        };
        let kind = kind.unwrap_or_else(|| self.other(node, depth + 1));
        Statement { line: line(node), span: node.byte_range(), kind }
    }

    /// What is inside a statement that no reader needs, and inside its clauses.
    fn other(self, node: Node<'_>, depth: usize) -> StatementKind {
        let (mut parts, mut body) = (Vec::new(), Vec::new());
        let mut pending = named(node);
        pending.reverse();
        while let Some(child) = pending.pop() {
            match child.kind() {
                "block" => body.extend(self.statements(child, depth)),
                "elif_clause" | "else_clause" | "except_clause" | "finally_clause" => {
                    pending.extend(named(child).into_iter().rev());
                }
                _ => parts.push(self.expression(child, depth)),
            }
        }
        StatementKind::Other { what: node.kind().to_owned(), parts, body }
    }

    fn statement_kind(self, node: Node<'_>, depth: usize) -> Option<StatementKind> {
        let part = |field| node.child_by_field_name(field);
        let expression = |field| part(field).map(|part| self.expression(part, depth));
        Some(match node.kind() {
            "import_statement" | "import_from_statement" | "future_import_statement" => {
                StatementKind::Import(self.imports(node))
            }
            "expression_statement" => self.expression_statement(node, depth)?,
            "return_statement" => {
                let value = named(node).first().map(|value| self.expression(*value, depth));
                StatementKind::Return(value)
            }
            "function_definition" => StatementKind::Function(self.function(node, depth)?),
            "class_definition" => StatementKind::Class(self.class(node, depth)?),
            "decorated_definition" => self.decorated(node, depth)?,
            "if_statement" => self.branches(node, depth)?,
            "for_statement" if part("alternative").is_none() => StatementKind::For {
                target: expression("left")?,
                iterable: expression("right")?,
                body: self.statements(part("body")?, depth),
            },
            "with_statement" => self.with(node, depth)?,
            "assert_statement" => {
                StatementKind::Assert(self.expression(*named(node).first()?, depth))
            }
            "pass_statement" => StatementKind::Pass,
            _ => return None,
        })
    }

    fn expression_statement(self, node: Node<'_>, depth: usize) -> Option<StatementKind> {
        let parts = named(node);
        let [only] = parts.as_slice() else {
            // `a, b` as a statement.
            return None;
        };
        match only.kind() {
            "assignment" => Some(self.assignment(*only, depth)),
            "augmented_assignment" => {
                let part = |field| only.child_by_field_name(field);
                let operator = self.text_in(*only, "operator");
                Some(StatementKind::AugmentedAssign {
                    target: self.expression(part("left")?, depth),
                    operator: BinaryOperator::from_text(operator.trim_end_matches('=')),
                    value: self.expression(part("right")?, depth),
                })
            }
            _ => Some(StatementKind::Expression(self.expression(*only, depth))),
        }
    }

    /// `a = b = value` is an assignment whose value is an assignment.
    fn assignment(self, node: Node<'_>, depth: usize) -> StatementKind {
        let mut targets = Vec::new();
        let mut here = Some(node);
        let mut value = None;
        while let Some(assignment) = here.take() {
            if let Some(left) = assignment.child_by_field_name("left") {
                targets.push(self.expression(left, depth));
            }
            match assignment.child_by_field_name("right") {
                Some(right) if right.kind() == "assignment" => here = Some(right),
                Some(right) => value = Some(self.expression(right, depth)),
                None => {}
            }
        }
        StatementKind::Assign { targets, value }
    }

    fn imports(self, node: Node<'_>) -> Vec<Import> {
        let from = node.child_by_field_name("module_name").map(|part| self.text_of(part));
        let from = match node.kind() {
            "future_import_statement" => Some("__future__"),
            _ => from,
        };
        let mut cursor = node.walk();
        let mut imports = Vec::new();
        for name in node.children_by_field_name("name", &mut cursor) {
            let aliased = name.kind() == "aliased_import";
            let written = match aliased {
                true => self.text_in(name, "name"),
                false => self.text_of(name).to_owned(),
            };
            let first = written.split('.').next().unwrap_or_default().to_owned();
            let name = if aliased { self.text_in(name, "alias") } else { first };
            let path = from.map_or_else(|| written.clone(), |from| format!("{from}.{written}"));
            imports.push(Import { path, name });
        }
        if named(node).iter().any(|part| part.kind() == "wildcard_import") {
            let path = format!("{}.*", from.unwrap_or_default());
            imports.push(Import { path, name: "*".to_owned() });
        }
        imports
    }

    fn function(self, node: Node<'_>, depth: usize) -> Option<Function> {
        let parameters = node.child_by_field_name("parameters")?;
        let mut kind = ParameterKind::Plain;
        let mut found = Vec::new();
        for parameter in named(parameters) {
            if parameter.kind() == "keyword_separator" {
                kind = ParameterKind::KeywordOnly;
            } else if let Some(parameter) = self.parameter(parameter, kind, depth) {
                if parameter.kind == ParameterKind::Rest {
                    kind = ParameterKind::KeywordOnly;
                }
                found.push(parameter);
            }
        }
        Some(Function {
            name: self.text_in(node, "name"),
            parameters: found,
            decorators: Vec::new(),
            body: self.statements(node.child_by_field_name("body")?, depth),
        })
    }

    fn parameter(self, node: Node<'_>, kind: ParameterKind, depth: usize) -> Option<Parameter> {
        let default = node.child_by_field_name("value").map(|part| self.expression(part, depth));
        let annotation = node.child_by_field_name("type").map(|part| self.text_of(part).to_owned());
        let name = match node.kind() {
            "typed_parameter" => *named(node).first()?,
            "default_parameter" | "typed_default_parameter" => node.child_by_field_name("name")?,
            "identifier" | "list_splat_pattern" | "dictionary_splat_pattern" => node,
            _ => return None,
        };
        let kind = match name.kind() {
            "list_splat_pattern" => ParameterKind::Rest,
            "dictionary_splat_pattern" => ParameterKind::Keywords,
            _ => kind,
        };
        let name = self.text_of(name).trim_start_matches('*').trim().to_owned();
        Some(Parameter { name, kind, annotation, default })
    }

    fn class(self, node: Node<'_>, depth: usize) -> Option<Class> {
        let bases = node.child_by_field_name("superclasses").map(named).unwrap_or_default();
        let bases: Vec<_> =
            bases.into_iter().filter(|base| base.kind() != "keyword_argument").collect();
        Some(Class {
            name: self.text_in(node, "name"),
            bases: self.expressions(&bases, depth),
            decorators: Vec::new(),
            body: self.statements(node.child_by_field_name("body")?, depth),
        })
    }

    fn decorated(self, node: Node<'_>, depth: usize) -> Option<StatementKind> {
        let found: Vec<_> = named(node)
            .into_iter()
            .filter(|part| part.kind() == "decorator")
            .filter_map(|part| named(part).first().map(|inner| self.expression(*inner, depth)))
            .collect();
        let mut definition = self.statement_kind(node.child_by_field_name("definition")?, depth)?;
        if let StatementKind::Function(Function { decorators, .. })
        | StatementKind::Class(Class { decorators, .. }) = &mut definition
        {
            *decorators = found;
        }
        Some(definition)
    }

    /// `elif` becomes an `if` inside `else`; its depth counts, because readers descend into it.
    fn branches(self, node: Node<'_>, depth: usize) -> Option<StatementKind> {
        let mut cursor = node.walk();
        let clauses: Vec<_> = node.children_by_field_name("alternative", &mut cursor).collect();
        self.branch(node, &clauses, depth)
    }

    fn branch(self, node: Node<'_>, clauses: &[Node<'_>], depth: usize) -> Option<StatementKind> {
        let part = |field| node.child_by_field_name(field);
        let otherwise = match clauses.split_first() {
            None => Vec::new(),
            Some((clause, _)) if clause.kind() == "else_clause" => {
                self.statements(clause.child_by_field_name("body")?, depth)
            }
            Some((clause, rest)) => {
                if depth >= DEEPEST {
                    return None;
                }
                let kind = self.branch(*clause, rest, depth + 1)?;
                vec![Statement { line: line(*clause), span: clause.byte_range(), kind }]
            }
        };
        Some(StatementKind::If {
            condition: self.expression(part("condition")?, depth),
            then: self.statements(part("consequence")?, depth),
            otherwise,
        })
    }

    fn with(self, node: Node<'_>, depth: usize) -> Option<StatementKind> {
        let clause = named(node).into_iter().find(|part| part.kind() == "with_clause")?;
        let (mut items, mut targets) = (Vec::new(), Vec::new());
        for item in named(clause) {
            let Some(value) = item.child_by_field_name("value") else { continue };
            let (value, alias) = match (value.kind(), named(value).as_slice()) {
                ("as_pattern", [value, alias, ..]) => (*value, named(*alias)),
                _ => (value, Vec::new()),
            };
            items.push(self.expression(value, depth));
            targets.extend(self.expressions(&alias, depth));
        }
        let body = self.statements(node.child_by_field_name("body")?, depth);
        Some(StatementKind::With { items, targets, body })
    }
}
