//! The branches of preprocessor conditionals that a build without options does not compile.
//!
//! A condition is decided by the macros of the file and of its headers. Names that the compiler reserves, such as
//! `__CUDA_ARCH__`, leave a condition open: then all its branches count as compiled.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use super::masking::Defines;
use super::syntax::{children, part, walk};

/// Maximum nesting of an evaluated condition.
const DEEPEST: usize = 32;

/// Prefixes of names that the compiler or its headers define.
const RESERVED: [&str; 6] = ["__", "CUDA", "CUDART", "CCCL", "NV", "_"];

/// Macros that the compiler always defines.
const ALWAYS: [&str; 2] = ["__CUDACC__", "__cplusplus"];

/// The bytes of branches that are not compiled: the start of each, and its end.
pub(super) type Inactive = BTreeMap<usize, usize>;

/// Finds them; `outer` are the macros of other files.
pub(super) fn inactive(text: &str, root: Node<'_>, outer: &Defines) -> Inactive {
    let mut found = Inactive::new();
    let mut known = Known { text, outer, own: BTreeMap::new(), undefined: BTreeSet::new() };
    walk(root, |node, _| {
        if contains(&found, node.start_byte()) {
            return false;
        }
        match node.kind() {
            "preproc_def" | "preproc_function_def" => known.define(node),
            "preproc_call" => known.undefine(node),
            "preproc_if" | "preproc_ifdef" | "preproc_elif" | "preproc_elifdef" => {
                found.extend(known.branch_left_out(node));
            }
            _ => {}
        }
        true
    });
    found
}

/// Whether a byte is in a branch that is not compiled.
pub(super) fn contains(inactive: &Inactive, at: usize) -> bool {
    inactive.range(..=at).next_back().is_some_and(|(_, end)| at < *end)
}

struct Known<'text> {
    text: &'text str,
    outer: &'text Defines,
    /// Macros that the file has defined so far, with their texts.
    own: BTreeMap<&'text str, &'text str>,
    undefined: BTreeSet<&'text str>,
}

impl<'text> Known<'text> {
    fn text(&self, node: Node<'_>) -> &'text str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    fn define(&mut self, node: Node<'_>) {
        if let Some(name) = part(node, "name") {
            let name = self.text(name);
            let value = part(node, "value").map_or("", |value| self.text(value));
            self.undefined.remove(name);
            self.own.insert(name, value);
        }
    }

    fn undefine(&mut self, call: Node<'_>) {
        let directive = part(call, "directive").map_or("", |directive| self.text(directive));
        if directive.trim_start_matches(['#', ' ', '\t']) == "undef"
            && let Some(name) = part(call, "argument")
        {
            let name = self.text(name).trim();
            self.own.remove(name);
            self.undefined.insert(name);
        }
    }

    /// The branch that the condition excludes: the first one, or all others.
    fn branch_left_out(&self, conditional: Node<'_>) -> Option<(usize, usize)> {
        let condition = part(conditional, "condition").or_else(|| part(conditional, "name"))?;
        let value = if conditional.child_by_field_name("name").is_some() {
            let negated = conditional.child(0).is_some_and(|word| self.text(word).contains("ndef"));
            self.is_defined(self.text(condition)).map(|defined| defined != negated)
        } else {
            self.value(condition, 0).map(|value| value != 0)
        };
        let alternative = part(conditional, "alternative");
        match (value?, alternative) {
            (true, Some(alternative)) => Some((alternative.start_byte(), alternative.end_byte())),
            (true, None) => None,
            (false, Some(alternative)) => Some((condition.end_byte(), alternative.start_byte())),
            (false, None) => Some((condition.end_byte(), conditional.end_byte())),
        }
    }

    fn is_defined(&self, name: &str) -> Option<bool> {
        if self.undefined.contains(name) {
            return Some(false);
        }
        if self.own.contains_key(name) || self.outer.contains_key(name) || ALWAYS.contains(&name) {
            return Some(true);
        }
        (!RESERVED.iter().any(|prefix| name.starts_with(prefix))).then_some(false)
    }

    /// The value of a condition, `None` if it depends on the compiler or on a macro with arguments.
    fn value(&self, node: Node<'_>, depth: usize) -> Option<i64> {
        if depth > DEEPEST {
            return None;
        }
        let below = |field: &str| self.value(part(node, field)?, depth + 1);
        match node.kind() {
            "number_literal" => self.text(node).trim_end_matches(['u', 'U', 'l', 'L']).parse().ok(),
            "identifier" => self.macro_value(self.text(node)),
            "preproc_defined" => {
                let name = children(node).into_iter().find(|child| child.kind() == "identifier")?;
                self.is_defined(self.text(name)).map(i64::from)
            }
            "parenthesized_expression" => self.value(node.named_child(0)?, depth + 1),
            "unary_expression" => match self.text(part(node, "operator")?) {
                "!" => below("argument").map(|value| i64::from(value == 0)),
                "-" => below("argument")?.checked_neg(),
                _ => None,
            },
            "binary_expression" => {
                let operator = self.text(part(node, "operator")?);
                binary(operator, below("left"), below("right"))
            }
            _ => None,
        }
    }

    fn macro_value(&self, name: &str) -> Option<i64> {
        match self.is_defined(name)? {
            false => Some(0),
            true => {
                let outer = || self.outer.get(name).map(String::as_str);
                self.own.get(name).copied().or_else(outer)?.trim().parse().ok()
            }
        }
    }
}

fn binary(operator: &str, left: Option<i64>, right: Option<i64>) -> Option<i64> {
    match (operator, left, right) {
        ("&&", Some(0), _) | ("&&", _, Some(0)) => Some(0),
        ("||", Some(value), _) | ("||", _, Some(value)) if value != 0 => Some(1),
        (operator, left, right) => {
            let (left, right) = (left?, right?);
            Some(i64::from(match operator {
                "&&" => left != 0 && right != 0,
                "||" => left != 0 || right != 0,
                "==" => left == right,
                "!=" => left != right,
                "<" => left < right,
                "<=" => left <= right,
                ">" => left > right,
                ">=" => left >= right,
                _ => return None,
            }))
        }
    }
}
