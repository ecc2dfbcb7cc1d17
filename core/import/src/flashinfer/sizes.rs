//! The sizes of a definition as axes of a project, and expressions for those that others determine.

use std::collections::BTreeMap;

use lightbench_project::expression::Expression;

use super::definition::{Definition, Size};
use crate::error::ImportError;
use crate::names::NameGiver;
use crate::report::{Place, Report};

/// How deep expressions refer to each other.
const MAX_DEPTH: usize = 16;

/// The sizes of a definition.
#[derive(Debug, Default)]
pub(super) struct Sizes {
    /// Axes of the project, by the name in the definition.
    axes: BTreeMap<String, ProjectAxis>,
    /// Sizes that others determine: their expressions, in names of the definition.
    derived: BTreeMap<String, String>,
    /// The order of the axes in the definition.
    order: Vec<String>,
}

/// An axis of the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProjectAxis {
    /// Its name in the project.
    pub(super) name: String,
    /// Its only value, if it has one.
    pub(super) fixed: Option<i64>,
    pub(super) note: String,
}

impl Sizes {
    /// Decides which sizes are axes.
    pub(super) fn new(definition: &Definition, names: &mut NameGiver, report: &mut Report) -> Self {
        let mut sizes = Self::default();
        for axis in &definition.axes {
            let name = axis.name.clone();
            sizes.order.push(name.clone());
            let proposed = match &axis.size {
                Size::Expression(text) => Some(text.clone()),
                Size::Variable => derived(definition, &name),
                Size::Constant(_) | Size::UnknownConstant => None,
            };
            if let Some(text) = proposed {
                sizes.derived.insert(name, text);
                continue;
            }
            let given = names.give(&axis.name);
            let fixed = match axis.size {
                Size::Constant(value) => Some(value),
                Size::UnknownConstant => {
                    let value = likely_constant(&axis.name, &axis.description);
                    let text = format!(
                        "the definition calls `{}` constant and states no value; {value} is a proposal, also for its value in every workload",
                        axis.name
                    );
                    report.confirm(format!("{given}.value"), Place::Axis(given.clone()), text);
                    Some(value)
                }
                Size::Variable | Size::Expression(_) => None,
            };
            let note = axis.description.clone();
            sizes.axes.insert(name, ProjectAxis { name: given, fixed, note });
        }
        sizes
    }

    /// The axes of the project that these expressions use, in the order of the definition.
    pub(super) fn used(&self, expressions: &[String]) -> Vec<&ProjectAxis> {
        let words: std::collections::BTreeSet<&str> =
            expressions.iter().flat_map(|text| text.split(|letter| !is_word(letter))).collect();
        let axes = self.order.iter().filter_map(|name| self.axes.get(name));
        axes.filter(|axis| words.contains(axis.name.as_str())).collect()
    }

    /// The axis of a size, if it is one.
    pub(super) fn axis(&self, name: &str) -> Option<&ProjectAxis> {
        self.axes.get(name)
    }

    /// A size as an expression of the project.
    pub(super) fn size(
        &self,
        definition: &Definition,
        place: &str,
        name: &str,
    ) -> Result<String, ImportError> {
        let found = self.expression(name, MAX_DEPTH).or_else(|| self.by_name(name));
        found.ok_or_else(|| {
            let known: Vec<&str> = definition.axes.iter().map(|axis| axis.name.as_str()).collect();
            let expected = format!("an axis of the definition: {}", known.join(", "));
            ImportError::new(
                &definition.file,
                place,
                format!("the unknown axis `{name}`"),
                expected,
            )
        })
    }

    /// An expression over sizes of the definition, in names of the project.
    pub(super) fn translated(&self, text: &str) -> Option<String> {
        self.translate(text, MAX_DEPTH)
    }

    fn expression(&self, name: &str, depth: usize) -> Option<String> {
        if let Some(axis) = self.axes.get(name) {
            return Some(axis.name.clone());
        }
        if name.bytes().all(|byte| byte.is_ascii_digit()) {
            return name.parse::<u32>().ok().filter(|size| *size > 0).map(|size| size.to_string());
        }
        self.translate(self.derived.get(name)?, depth.checked_sub(1)?)
    }

    fn translate(&self, text: &str, depth: usize) -> Option<String> {
        let mut written = String::new();
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let end = rest.find(|other| is_word(other) != is_word(letter)).unwrap_or(rest.len());
            let (part, after) = rest.split_at(end);
            rest = after;
            let is_name = letter.is_ascii_alphabetic() || letter == '_';
            if is_name && !FUNCTIONS.contains(&part) {
                let inner = self.expression(part, depth)?;
                let is_simple = inner.chars().all(is_word);
                written += &if is_simple { inner } else { format!("({inner})") };
            } else {
                written += part;
            }
        }
        (written.len() <= 1000 && Expression::parse(&written).is_ok()).then_some(written)
    }

    /// `K_div_16`, `N_mul_2` and `K_div_block_size`, which some definitions use without declaring them.
    fn by_name(&self, name: &str) -> Option<String> {
        for (word, operator) in [("_div_", "//"), ("_mul_", "*")] {
            for (at, _) in name.match_indices(word) {
                let (left, right) = (name.get(..at)?, name.get(at + word.len()..)?);
                let left = self.expression(left, MAX_DEPTH);
                if let (Some(left), Some(right)) = (left, self.expression(right, MAX_DEPTH)) {
                    return Some(format!("({left}) {operator} ({right})"));
                }
            }
        }
        None
    }
}

/// Functions that the expressions of a project have.
const FUNCTIONS: [&str; 3] = ["ceil_div", "min", "max"];

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// The expression of a variable size that a constraint or its name determines.
fn derived(definition: &Definition, name: &str) -> Option<String> {
    let constraints = definition.constraints.iter();
    let by_constraint =
        constraints.filter_map(|each| each.split_once("==")).find_map(|(left, right)| {
            let (left, right) = (left.trim(), right.trim());
            if left == name {
                return is_size(definition, right, name).then(|| right.to_owned());
            }
            // `rows == cols` determines the first one only.
            let is_plain = definition.axis(left).is_some_and(|axis| axis.size == Size::Variable);
            if right == name && !is_plain {
                return is_size(definition, left, name).then(|| left.to_owned());
            }
            divided(definition, left, right, name)
                .or_else(|| divided(definition, right, left, name))
        });
    by_constraint.or_else(|| derived_by_name(definition, name))
}

/// From `total == factor * name`, the expression `total // factor`.
fn divided(definition: &Definition, total: &str, product: &str, name: &str) -> Option<String> {
    let (left, right) = product.split_once('*')?;
    let (left, right) = (left.trim(), right.trim());
    let factor = if left == name { right } else { left };
    let other = if left == name { left } else { right };
    let is_known = other == name && factor != name && definition.axis(total).is_some();
    (is_known && is_size(definition, factor, name)).then(|| format!("{total} // {factor}"))
}

/// Whether a text is an expression over other sizes.
fn is_size(definition: &Definition, text: &str, except: &str) -> bool {
    let mut words = text.split(|letter| !is_word(letter)).filter(|word| !word.is_empty());
    let known = words.all(|word| {
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        is_number || (word != except && definition.axis(word).is_some())
    });
    let permitted = |letter: char| {
        is_word(letter) || matches!(letter, ' ' | '+' | '-' | '*' | '/' | '(' | ')' | '%')
    };
    known && text.chars().all(permitted) && Expression::parse(text).is_ok()
}

/// `batch_size_plus_1` and `len_indptr`.
fn derived_by_name(definition: &Definition, name: &str) -> Option<String> {
    if let Some(base) = name.strip_suffix("_plus_1")
        && definition.axis(base).is_some()
    {
        return Some(format!("{base} + 1"));
    }
    let is_offsets =
        name.starts_with("len_") && (name.contains("indptr") || name.contains("cu_seqlens"));
    let batches = ["batch_size", "num_seqs", "num_sequences"];
    let batch = batches.iter().find(|batch| definition.axis(batch).is_some());
    batch.filter(|_| is_offsets).map(|batch| format!("{batch} + 1"))
}

/// A value for a constant that the definition does not state.
fn likely_constant(name: &str, description: &str) -> i64 {
    if description.contains("Always 1") || name.contains("beam") {
        1
    } else if name.contains("page_size") {
        16
    } else if name.contains("dim") {
        64
    } else {
        1
    }
}
