//! Nodes of the syntax tree to expressions.

use tree_sitter::Node;

use crate::literal::{self, StringKind};
use crate::parse::{DEEPEST, line};
use crate::syntax::{
    Argument, BinaryOperator, Call, Comparison, Expression, ExpressionKind, UnaryOperator,
};

/// Reads nodes of one text.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'text> {
    pub(crate) text: &'text str,
}

/// The named children of a node without comments.
pub(crate) fn named(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| child.kind() != "comment").collect()
}

impl<'text> Reader<'text> {
    /// The text of a node.
    pub(crate) fn text_of(self, node: Node<'_>) -> &'text str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// The text of a field of a node.
    pub(crate) fn text_in(self, node: Node<'_>, field: &str) -> String {
        node.child_by_field_name(field).map_or("", |part| self.text_of(part)).to_owned()
    }

    /// The expression at a node, which is `depth` levels deep.
    pub(crate) fn expression(self, node: Node<'_>, depth: usize) -> Expression {
        let kind = match depth < DEEPEST {
            true => self.kind(node, depth + 1),
            false => {
                let what = format!("nesting beyond {DEEPEST} levels");
                Some(ExpressionKind::Other { what, parts: Vec::new() })
            }
        };
        let kind = kind.unwrap_or_else(|| ExpressionKind::Other {
            what: node.kind().to_owned(),
            parts: self.expressions(&named(node), depth + 1),
        });
        Expression { line: line(node), span: node.byte_range(), kind }
    }

    /// The expressions at nodes.
    pub(crate) fn expressions(self, nodes: &[Node<'_>], depth: usize) -> Vec<Expression> {
        nodes.iter().map(|node| self.expression(*node, depth)).collect()
    }

    /// None where the grammar permits what no reader needs. That is decided before parts of the node are read, which
    /// are read again then: else the time would double with each level.
    fn kind(self, node: Node<'_>, depth: usize) -> Option<ExpressionKind> {
        Some(match node.kind() {
            "integer" => ExpressionKind::Integer(literal::integer(self.text_of(node))?),
            "float" => ExpressionKind::Float(literal::float(self.text_of(node))?),
            "string" | "concatenated_string" => self.string(node)?,
            "true" => ExpressionKind::Boolean(true),
            "false" => ExpressionKind::Boolean(false),
            "none" => ExpressionKind::None,
            "ellipsis" => ExpressionKind::Ellipsis,
            "identifier" => ExpressionKind::Name(self.text_of(node).to_owned()),
            "tuple" | "expression_list" | "pattern_list" | "tuple_pattern" => {
                ExpressionKind::Tuple(self.expressions(&named(node), depth))
            }
            "list" | "list_pattern" => ExpressionKind::List(self.expressions(&named(node), depth)),
            "dictionary" => self.dictionary(node, depth)?,
            "parenthesized_expression" => match named(node).as_slice() {
                [inner] => return Some(self.expression(*inner, depth).kind),
                _ => return None,
            },
            "attribute" => ExpressionKind::Attribute {
                value: self.field(node, "object", depth)?,
                name: self.text_in(node, "attribute"),
            },
            "call" => self.call(node, depth)?,
            "subscript" => {
                let value = self.field(node, "value", depth)?;
                let mut cursor = node.walk();
                let indices: Vec<_> =
                    node.children_by_field_name("subscript", &mut cursor).collect();
                ExpressionKind::Subscript { value, indices: self.indices(&indices, depth) }
            }
            "slice" => self.slice(node, depth),
            "not_operator" => ExpressionKind::Unary {
                operator: UnaryOperator::Not,
                operand: self.field(node, "argument", depth)?,
            },
            "unary_operator" => ExpressionKind::Unary {
                operator: match self.text_in(node, "operator").as_str() {
                    "-" => UnaryOperator::Negative,
                    "+" => UnaryOperator::Positive,
                    "~" => UnaryOperator::Invert,
                    _ => return None,
                },
                operand: self.field(node, "argument", depth)?,
            },
            "binary_operator" | "boolean_operator" => ExpressionKind::Binary {
                operator: BinaryOperator::from_text(&self.text_in(node, "operator"))?,
                left: self.field(node, "left", depth)?,
                right: self.field(node, "right", depth)?,
            },
            "comparison_operator" => self.comparison(node, depth)?,
            "conditional_expression" => match named(node).as_slice() {
                [then, condition, otherwise] => ExpressionKind::Conditional {
                    condition: Box::new(self.expression(*condition, depth)),
                    then: Box::new(self.expression(*then, depth)),
                    otherwise: Box::new(self.expression(*otherwise, depth)),
                },
                _ => return None,
            },
            "list_splat" | "list_splat_pattern" => match named(node).as_slice() {
                [inner] => ExpressionKind::Starred(Box::new(self.expression(*inner, depth))),
                _ => return None,
            },
            _ => return None,
        })
    }

    fn field(self, node: Node<'_>, field: &str, depth: usize) -> Option<Box<Expression>> {
        node.child_by_field_name(field).map(|part| Box::new(self.expression(part, depth)))
    }

    /// `x[a, b]` has the indices as children, `x[(a, b)]` a tuple.
    fn indices(self, nodes: &[Node<'_>], depth: usize) -> Vec<Expression> {
        let mut found = self.expressions(nodes, depth);
        if let [Expression { kind: ExpressionKind::Tuple(all), .. }] = found.as_mut_slice() {
            return std::mem::take(all);
        }
        found
    }

    fn slice(self, node: Node<'_>, depth: usize) -> ExpressionKind {
        let mut parts = [None, None, None];
        let mut position = 0;
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            if child.kind() == ":" {
                position += 1;
            } else if child.is_named()
                && child.kind() != "comment"
                && let Some(part) = parts.get_mut(position)
            {
                *part = Some(Box::new(self.expression(child, depth)));
            }
        }
        let [first, last, step] = parts;
        ExpressionKind::Slice { first, last, step }
    }

    fn dictionary(self, node: Node<'_>, depth: usize) -> Option<ExpressionKind> {
        let children = named(node);
        if children.iter().any(|pair| pair.kind() != "pair") {
            return None;
        }
        let mut pairs = Vec::new();
        for pair in children {
            let key = self.field(pair, "key", depth)?;
            pairs.push((*key, *self.field(pair, "value", depth)?));
        }
        Some(ExpressionKind::Dictionary(pairs))
    }

    fn call(self, node: Node<'_>, depth: usize) -> Option<ExpressionKind> {
        let list = node.child_by_field_name("arguments")?;
        if list.kind() != "argument_list" {
            return None;
        }
        let function = *self.field(node, "function", depth)?;
        let mut arguments = Vec::new();
        for argument in named(list) {
            let (name, value) = match argument.kind() {
                "keyword_argument" => {
                    let name = self.text_in(argument, "name");
                    (Some(name), *self.field(argument, "value", depth)?)
                }
                "dictionary_splat" => {
                    let inner = *named(argument).first()?;
                    (Some("**".to_owned()), self.expression(inner, depth))
                }
                _ => (None, self.expression(argument, depth)),
            };
            arguments.push(Argument { name, value });
        }
        Some(ExpressionKind::Call(Box::new(Call { function, arguments })))
    }

    fn comparison(self, node: Node<'_>, depth: usize) -> Option<ExpressionKind> {
        let mut cursor = node.walk();
        let operators = node.children_by_field_name("operators", &mut cursor).map(|operator| {
            let words: Vec<_> = self.text_of(operator).split_whitespace().collect();
            Comparison::from_text(&words.join(" "))
        });
        let operators: Vec<Comparison> = operators.collect::<Option<_>>()?;
        let mut operands = named(node).into_iter().map(|operand| self.expression(operand, depth));
        let first = Box::new(operands.next()?);
        let rest = operators.into_iter().zip(operands).collect();
        Some(ExpressionKind::Compare { first, rest })
    }

    fn string(self, node: Node<'_>) -> Option<ExpressionKind> {
        let parts = if node.kind() == "string" { vec![node] } else { named(node) };
        let mut text = String::new();
        let mut first_line = None;
        for part in parts {
            let pieces = named(part);
            let (opening, ending) = (*pieces.first()?, *pieces.last()?);
            let content = self.text.get(opening.end_byte()..ending.start_byte())?;
            first_line.get_or_insert(opening.end_position().row + 1);
            match literal::string_kind(self.text_of(opening)) {
                StringKind::Plain => text.push_str(&literal::unescape(content)?),
                StringKind::Raw => text.push_str(content),
                // A string for formatting without anything to format is a plain one.
                StringKind::Unknown => return None,
            }
        }
        Some(ExpressionKind::Text { text, first_line: first_line? })
    }
}
