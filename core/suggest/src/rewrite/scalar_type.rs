//! Scalar types of expressions, as far as the text of one file determines them.

use lightbench_cuda_source::Node;
use lightbench_primitives::dtype::Dtype;

use super::function::Function;
use super::known_functions::SINGLE;
use super::pointers;
use super::syntax::{bare, index, named, one_line, part};

/// Deepest nesting of expressions that is analysed.
const MAX_DEPTH: usize = 64;

/// Types that operands of built-in arithmetic have after the integral promotions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScalarType {
    F32,
    F64,
    I32,
    U32,
    I64,
    U64,
}

impl ScalarType {
    /// The type with this name; `None` for narrower integers, which are promoted to `int`, and for types of classes.
    pub(super) fn named(written: &str) -> Option<Self> {
        let words = one_line(written);
        let words = words.strip_prefix("const ").unwrap_or(&words);
        match Dtype::from_c_name(words)? {
            Dtype::F32 => Some(Self::F32),
            Dtype::F64 => Some(Self::F64),
            Dtype::I32 => Some(Self::I32),
            Dtype::U32 => Some(Self::U32),
            Dtype::I64 => Some(Self::I64),
            Dtype::U64 => Some(Self::U64),
            Dtype::F16
            | Dtype::Bf16
            | Dtype::F8E4M3
            | Dtype::F8E5M2
            | Dtype::I16
            | Dtype::I8
            | Dtype::U16
            | Dtype::U8
            | Dtype::Bool
            | Dtype::I4
            | Dtype::U4
            | Dtype::E2M1 => None,
        }
    }

    pub(super) fn is_integer(self) -> bool {
        !matches!(self, Self::F32 | Self::F64)
    }

    pub(super) fn is_wide_integer(self) -> bool {
        matches!(self, Self::I64 | Self::U64)
    }

    /// The smallest and the largest value of an integer.
    pub(super) fn limits(self) -> Option<(i128, i128)> {
        Some(match self {
            Self::I32 => (i32::MIN.into(), i32::MAX.into()),
            Self::U32 => (0, u32::MAX.into()),
            Self::I64 => (i64::MIN.into(), i64::MAX.into()),
            Self::U64 => (0, u64::MAX.into()),
            Self::F32 | Self::F64 => return None,
        })
    }

    /// The type of a sum or a product; [expr.arith.conv] of ISO C++20.
    fn joined(self, other: Self) -> Self {
        [Self::F64, Self::F32, Self::U64, Self::I64, Self::U32]
            .into_iter()
            .find(|each| self == *each || other == *each)
            .unwrap_or(Self::I32)
    }
}

/// Whether a text is a literal of the value 0.
pub(super) fn is_zero(text: &str) -> bool {
    text.starts_with(['0', '.']) && text.trim_end_matches(['f', '0', '.']).is_empty()
}

/// The type of an expression; none if the text does not determine it.
pub(super) fn scalar_type(function: &Function<'_>, node: Node<'_>) -> Option<ScalarType> {
    of(function, node, 0)
}

fn of(function: &Function<'_>, node: Node<'_>, depth: usize) -> Option<ScalarType> {
    if depth > MAX_DEPTH {
        return None;
    }
    let inner = |field: &str| part(node, field).and_then(|child| of(function, child, depth + 1));
    match node.kind() {
        "parenthesized_expression" | "condition_clause" => {
            let bare = bare(node);
            if bare.id() == node.id() { None } else { of(function, bare, depth + 1) }
        }
        "number_literal" => Some(literal(function.subject.of_node(node))),
        "identifier" => name(function, node),
        "field_expression" => special(function, node),
        "qualified_identifier" => {
            function.subject.of_node(node).starts_with("axis::").then_some(ScalarType::I64)
        }
        "unary_expression" => inner("argument"),
        "binary_expression" => {
            let operator = part(node, "operator").map_or("", |node| function.subject.of_node(node));
            let (left, right) = (inner("left")?, inner("right")?);
            match operator {
                "+" | "-" | "*" | "/" | "%" | "&" | "|" | "^" => Some(left.joined(right)),
                "<<" | ">>" => Some(left),
                _ => Some(ScalarType::I32),
            }
        }
        "conditional_expression" => Some(inner("consequence")?.joined(inner("alternative")?)),
        "cast_expression" => ScalarType::named(function.subject.of_node(part(node, "type")?)),
        "subscript_expression" => element(function, node),
        "call_expression" => call(function, node, depth),
        _ => None,
    }
}

fn literal(text: &str) -> ScalarType {
    let lower = text.to_ascii_lowercase().replace('\'', "");
    if lower.starts_with("0x") || lower.starts_with("0b") {
        return integer_literal(&lower);
    }
    if lower.ends_with('f') {
        return ScalarType::F32;
    }
    if lower.contains(['.', 'e']) { ScalarType::F64 } else { integer_literal(&lower) }
}

fn integer_literal(text: &str) -> ScalarType {
    let unsigned = text.contains('u');
    match (text.contains('l'), unsigned) {
        (true, true) => ScalarType::U64,
        (true, false) => ScalarType::I64,
        (false, true) => ScalarType::U32,
        (false, false) => ScalarType::I32,
    }
}

fn name(function: &Function<'_>, node: Node<'_>) -> Option<ScalarType> {
    let text = function.subject.of_node(node);
    if let Some(local) = function.local(text, node) {
        return if local.is_pointer || local.is_array {
            None
        } else {
            ScalarType::named(local.type_name)
        };
    }
    if let Some(parameter) = function.parameter(text) {
        return if parameter.is_pointer { None } else { ScalarType::named(parameter.type_name) };
    }
    let is_integer = function.templates.contains(&text) || text.starts_with("PARAM_");
    is_integer.then_some(ScalarType::I32)
}

fn special(function: &Function<'_>, node: Node<'_>) -> Option<ScalarType> {
    let whole = part(node, "argument").map(|node| function.subject.of_node(node))?;
    matches!(whole, "threadIdx" | "blockIdx" | "blockDim" | "gridDim").then_some(ScalarType::U32)
}

fn element(function: &Function<'_>, node: Node<'_>) -> Option<ScalarType> {
    index(node)?;
    let mut base = part(node, "argument")?;
    while base.kind() == "subscript_expression" {
        base = part(base, "argument")?;
    }
    let text = function.subject.of_node(base);
    if let Some(pointer) = pointers::pointer(function, base) {
        return ScalarType::named(pointer.element);
    }
    let local = function.local(text, base)?;
    if local.is_array { ScalarType::named(local.type_name) } else { None }
}

fn call(function: &Function<'_>, node: Node<'_>, depth: usize) -> Option<ScalarType> {
    let callee = part(node, "function")?;
    let text = function.subject.of_node(callee);
    if callee.kind() == "template_function" {
        let types = part(callee, "arguments")?;
        let is_cast =
            part(callee, "name").map(|name| function.subject.of_node(name)) == Some("static_cast");
        let written = named(types).first().map(|each| function.subject.of_node(*each))?;
        return if is_cast { ScalarType::named(written) } else { None };
    }
    if SINGLE.contains(&text) {
        return Some(ScalarType::F32);
    }
    if let Some(cast) = ScalarType::named(text) {
        return Some(cast);
    }
    let arguments = named(part(node, "arguments")?);
    match text {
        "min" | "max" | "__ldg" | "__ldcs" | "__ldcg" | "__ldca" | "abs" => arguments
            .into_iter()
            .map(|argument| of(function, argument, depth + 1))
            .reduce(|left, right| Some(left?.joined(right?)))
            .flatten(),
        "__shfl_sync" | "__shfl_xor_sync" | "__shfl_down_sync" | "__shfl_up_sync" => {
            of(function, *arguments.get(1)?, depth + 1)
        }
        _ => None,
    }
}
