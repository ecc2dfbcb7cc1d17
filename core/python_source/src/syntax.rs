//! Statements and expressions of Python, as far as readers of kernels and tasks need them.

use std::ops::Range;

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// The line of its first character, from 1.
    pub line: usize,
    /// Its bytes in the file.
    pub span: Range<usize>,
    /// What it is.
    pub kind: StatementKind,
}

/// What a statement is.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// `import a.b as c`, `from a import b as c`; one entry for each name.
    Import(Vec<Import>),
    /// `a = b = value`, `a: type = value`; without `value` for a declaration.
    Assign {
        /// The targets, from the left; a tuple is one target.
        targets: Vec<Expression>,
        /// The value.
        value: Option<Expression>,
    },
    /// `target += value`.
    AugmentedAssign {
        /// The target.
        target: Expression,
        /// The operator; none if it is unknown.
        operator: Option<BinaryOperator>,
        /// The value.
        value: Expression,
    },
    /// An expression for its effect; a docstring.
    Expression(Expression),
    /// `return value`.
    Return(Option<Expression>),
    /// `def`.
    Function(Function),
    /// `class`.
    Class(Class),
    /// `if`; `elif` is an `if` in `otherwise`.
    If {
        /// The condition.
        condition: Expression,
        /// The statements if it holds.
        then: Vec<Statement>,
        /// The statements otherwise.
        otherwise: Vec<Statement>,
    },
    /// `for target in iterable`.
    For {
        /// The loop variable.
        target: Expression,
        /// What is iterated.
        iterable: Expression,
        /// The statements.
        body: Vec<Statement>,
    },
    /// `with items`.
    With {
        /// The context managers, without their names.
        items: Vec<Expression>,
        /// What `as` binds.
        targets: Vec<Expression>,
        /// The statements.
        body: Vec<Statement>,
    },
    /// `assert condition`.
    Assert(Expression),
    /// `pass`.
    Pass,
    /// Anything else, such as `while`, `try` and `match`.
    Other {
        /// What the grammar calls it.
        what: String,
        /// The expressions in it, those of its clauses too; also what they bind, as in `except Error as name`.
        parts: Vec<Expression>,
        /// The statements of its blocks, in the order of the text.
        body: Vec<Statement>,
    },
}

/// A name that an import binds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The full path, `torch.nn.functional`; ends with `*` if all names are imported.
    pub path: String,
    /// The name that the module sees; the first part of the path for `import a.b`.
    pub name: String,
}

/// A function or method.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
    /// Its decorators.
    pub decorators: Vec<Expression>,
    /// Its statements, with the docstring.
    pub body: Vec<Statement>,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// How it is passed.
    pub kind: ParameterKind,
    /// The text of its annotation.
    pub annotation: Option<String>,
    /// Its default.
    pub default: Option<Expression>,
}

/// How a parameter is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// By position or name.
    Plain,
    /// By name only: after `*`.
    KeywordOnly,
    /// `*args`.
    Rest,
    /// `**kwargs`.
    Keywords,
}

/// A class.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// What it inherits from, without keywords.
    pub bases: Vec<Expression>,
    /// Its decorators.
    pub decorators: Vec<Expression>,
    /// Its statements.
    pub body: Vec<Statement>,
}

impl Class {
    /// The method of this name.
    #[must_use]
    pub fn method(&self, name: &str) -> Option<&Function> {
        functions(&self.body).find(|function| function.name == name)
    }
}

/// The functions among statements; of several with one name, the last counts in Python and comes first here.
pub(crate) fn functions(statements: &[Statement]) -> impl Iterator<Item = &Function> {
    statements.iter().rev().filter_map(|statement| {
        let StatementKind::Function(function) = &statement.kind else { return None };
        Some(function)
    })
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// The line of its first character, from 1.
    pub line: usize,
    /// Its bytes in the file.
    pub span: Range<usize>,
    /// What it is.
    pub kind: ExpressionKind,
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpressionKind {
    /// An integer that fits.
    Integer(i128),
    /// A floating-point number.
    Float(f64),
    /// A string, with all its parts joined and its escapes replaced. `first_line` is the line of its first character
    /// of content, from 1.
    Text {
        /// The content.
        text: String,
        /// The line of the first character of the content.
        first_line: usize,
    },
    /// `True` or `False`.
    Boolean(bool),
    /// `None`.
    None,
    /// A name.
    Name(String),
    /// `(a, b)` or `a, b`.
    Tuple(Vec<Expression>),
    /// `[a, b]`.
    List(Vec<Expression>),
    /// `{a: b}`.
    Dictionary(Vec<(Expression, Expression)>),
    /// `value.name`.
    Attribute {
        /// The object.
        value: Box<Expression>,
        /// The attribute.
        name: String,
    },
    /// `function(arguments)`.
    Call(Box<Call>),
    /// `value[index]`, with several indices for `value[a, b]`.
    Subscript {
        /// The object.
        value: Box<Expression>,
        /// The indices.
        indices: Vec<Expression>,
    },
    /// `first:last:step` in a subscript.
    Slice {
        /// The first index.
        first: Option<Box<Expression>>,
        /// The index after the last.
        last: Option<Box<Expression>>,
        /// The step.
        step: Option<Box<Expression>>,
    },
    /// `-a`.
    Unary {
        /// The operator.
        operator: UnaryOperator,
        /// The operand.
        operand: Box<Expression>,
    },
    /// `a + b`.
    Binary {
        /// The operator.
        operator: BinaryOperator,
        /// The operand on the left.
        left: Box<Expression>,
        /// The operand on the right.
        right: Box<Expression>,
    },
    /// `a < b <= c`: the first operand, then each operator with its operand.
    Compare {
        /// The first operand.
        first: Box<Expression>,
        /// The others.
        rest: Vec<(Comparison, Expression)>,
    },
    /// `a if condition else b`.
    Conditional {
        /// The condition.
        condition: Box<Expression>,
        /// The value if it holds.
        then: Box<Expression>,
        /// The value otherwise.
        otherwise: Box<Expression>,
    },
    /// `*value` among arguments or elements.
    Starred(Box<Expression>),
    /// `...`.
    Ellipsis,
    /// Anything else, such as comprehensions, `lambda` and `name := value`.
    Other {
        /// What the grammar calls it.
        what: String,
        /// The expressions in it, also what it binds.
        parts: Vec<Expression>,
    },
}

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    /// `-`.
    Negative,
    /// `+`.
    Positive,
    /// `~`.
    Invert,
    /// `not`.
    Not,
}

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOperator {
    /// `+`.
    Add,
    /// `-`.
    Subtract,
    /// `*`.
    Multiply,
    /// `/`.
    Divide,
    /// `//`.
    FloorDivide,
    /// `%`.
    Remainder,
    /// `**`.
    Power,
    /// `@`.
    MatrixMultiply,
    /// `<<`.
    ShiftLeft,
    /// `>>`.
    ShiftRight,
    /// `&`.
    BitAnd,
    /// `|`.
    BitOr,
    /// `^`.
    BitXor,
    /// `and`.
    And,
    /// `or`.
    Or,
}

impl BinaryOperator {
    /// The operator of a text.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        Some(match text {
            "+" => Self::Add,
            "-" => Self::Subtract,
            "*" => Self::Multiply,
            "/" => Self::Divide,
            "//" => Self::FloorDivide,
            "%" => Self::Remainder,
            "**" => Self::Power,
            "@" => Self::MatrixMultiply,
            "<<" => Self::ShiftLeft,
            ">>" => Self::ShiftRight,
            "&" => Self::BitAnd,
            "|" => Self::BitOr,
            "^" => Self::BitXor,
            "and" => Self::And,
            "or" => Self::Or,
            _ => return None,
        })
    }
}

/// An operator that compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`.
    Equal,
    /// `!=`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
    /// `is`.
    Is,
    /// `is not`.
    IsNot,
    /// `in`.
    In,
    /// `not in`.
    NotIn,
}

impl Comparison {
    /// The operator of a text.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        Some(match text {
            "==" => Self::Equal,
            "!=" => Self::NotEqual,
            "<" => Self::Less,
            "<=" => Self::LessOrEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterOrEqual,
            "is" => Self::Is,
            "is not" => Self::IsNot,
            "in" => Self::In,
            "not in" => Self::NotIn,
            _ => return None,
        })
    }
}

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What is called.
    pub function: Expression,
    /// The arguments, in order.
    pub arguments: Vec<Argument>,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The name of a keyword argument; `**` for an unpacked dictionary.
    pub name: Option<String>,
    /// The value.
    pub value: Expression,
}

impl Call {
    /// The value of a keyword argument.
    #[must_use]
    pub fn keyword(&self, name: &str) -> Option<&Expression> {
        let named = |argument: &&Argument| argument.name.as_deref() == Some(name);
        self.arguments.iter().find(named).map(|argument| &argument.value)
    }

    /// The arguments by position.
    pub fn positional(&self) -> impl Iterator<Item = &Expression> {
        self.arguments.iter().filter(|each| each.name.is_none()).map(|each| &each.value)
    }

    /// The value of a parameter that is passed by position or by name.
    #[must_use]
    pub fn argument(&self, position: usize, name: &str) -> Option<&Expression> {
        self.positional().nth(position).or_else(|| self.keyword(name))
    }
}

impl Expression {
    /// The dotted name, `torch.nn.functional.relu`; none for anything but names and their attributes.
    #[must_use]
    pub fn dotted_name(&self) -> Option<String> {
        if let ExpressionKind::Name(name) = &self.kind {
            return Some(name.clone());
        }
        let ExpressionKind::Attribute { value, name } = &self.kind else { return None };
        Some(format!("{}.{name}", value.dotted_name()?))
    }

    /// The expressions directly inside.
    #[must_use]
    pub fn parts(&self) -> Vec<&Self> {
        match &self.kind {
            ExpressionKind::Tuple(all)
            | ExpressionKind::List(all)
            | ExpressionKind::Other { parts: all, .. } => all.iter().collect(),
            ExpressionKind::Dictionary(pairs) => {
                pairs.iter().flat_map(|(key, value)| [key, value]).collect()
            }
            ExpressionKind::Attribute { value, .. } | ExpressionKind::Starred(value) => vec![value],
            ExpressionKind::Call(call) => {
                let arguments = call.arguments.iter().map(|argument| &argument.value);
                std::iter::once(&call.function).chain(arguments).collect()
            }
            ExpressionKind::Subscript { value, indices } => {
                std::iter::once(&**value).chain(indices).collect()
            }
            ExpressionKind::Slice { first, last, step } => {
                [first, last, step].into_iter().filter_map(|part| part.as_deref()).collect()
            }
            ExpressionKind::Unary { operand, .. } => vec![operand],
            ExpressionKind::Binary { left, right, .. } => vec![left, right],
            ExpressionKind::Compare { first, rest } => {
                std::iter::once(&**first).chain(rest.iter().map(|(_, operand)| operand)).collect()
            }
            ExpressionKind::Conditional { condition, then, otherwise } => {
                vec![condition, then, otherwise]
            }
            ExpressionKind::Integer(_)
            | ExpressionKind::Float(_)
            | ExpressionKind::Text { .. }
            | ExpressionKind::Boolean(_)
            | ExpressionKind::None
            | ExpressionKind::Name(_)
            | ExpressionKind::Ellipsis => Vec::new(),
        }
    }
}

impl Statement {
    /// The expressions directly in this statement, without those of statements inside it.
    #[must_use]
    pub fn expressions(&self) -> Vec<&Expression> {
        match &self.kind {
            StatementKind::Assign { targets, value } => targets.iter().chain(value).collect(),
            StatementKind::AugmentedAssign { target, value, .. } => vec![target, value],
            StatementKind::Expression(value) | StatementKind::Assert(value) => vec![value],
            StatementKind::Return(value) => value.iter().collect(),
            StatementKind::Function(Function { parameters, decorators, .. }) => {
                let defaults = parameters.iter().filter_map(|each| each.default.as_ref());
                decorators.iter().chain(defaults).collect()
            }
            StatementKind::Class(Class { bases, decorators, .. }) => {
                decorators.iter().chain(bases).collect()
            }
            StatementKind::If { condition, .. } => vec![condition],
            StatementKind::For { target, iterable, .. } => vec![target, iterable],
            StatementKind::With { items, targets, .. } => items.iter().chain(targets).collect(),
            StatementKind::Other { parts, .. } => parts.iter().collect(),
            StatementKind::Import(_) | StatementKind::Pass => Vec::new(),
        }
    }

    /// The statements directly inside this one.
    #[must_use]
    pub fn inner(&self) -> Vec<&Self> {
        match &self.kind {
            StatementKind::Function(Function { body, .. })
            | StatementKind::Class(Class { body, .. })
            | StatementKind::For { body, .. }
            | StatementKind::With { body, .. }
            | StatementKind::Other { body, .. } => body.iter().collect(),
            StatementKind::If { then, otherwise, .. } => then.iter().chain(otherwise).collect(),
            StatementKind::Import(_)
            | StatementKind::Assign { .. }
            | StatementKind::AugmentedAssign { .. }
            | StatementKind::Expression(_)
            | StatementKind::Return(_)
            | StatementKind::Assert(_)
            | StatementKind::Pass => Vec::new(),
        }
    }
}
