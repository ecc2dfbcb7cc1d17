//! Checks: what a wrapper requires of its inputs, and which branches that decides.

use lightbench_primitives::dtype::Dtype;
use tree_sitter::Node;

use crate::syntax::{all, named};

use super::condition::{Comparison, Condition};
use super::description::NoteKind;
use super::dtypes;
use super::integer::{Fact, Integer};
use super::reader::Reader;
use super::refusal::{Refusal, Why};
use super::text::Text;
use super::value::Value;

/// The comparison that a check has in its name: `TORCH_CHECK_EQ`, `TVM_FFI_ICHECK_LT`, `CHECK_GE`.
pub(super) fn compared_by(name: &str) -> Option<&'static str> {
    let (check, comparison) = name.rsplit_once('_')?;
    if !["TORCH_CHECK", "TORCH_INTERNAL_ASSERT", "TVM_FFI_CHECK", "TVM_FFI_ICHECK", "CHECK"]
        .contains(&check)
    {
        return None;
    }
    Some(match comparison {
        "EQ" => "==",
        "NE" => "!=",
        "LT" => "<",
        "LE" => "<=",
        "GT" => ">",
        "GE" => ">=",
        _ => return None,
    })
}

/// A condition that is not understood is a note, not a refusal: it computes nothing.
fn understood(condition: Result<Condition, Refusal>) -> Result<Condition, Refusal> {
    match condition {
        Err(refusal @ Refusal { why: Why::TooLarge, .. }) => Err(refusal),
        Err(_not_understood) => Ok(Condition::Unknown),
        Ok(condition) => Ok(condition),
    }
}

impl Reader<'_> {
    /// `TORCH_CHECK(condition, …)`.
    pub(super) fn check(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        arguments: &[Node<'_>],
    ) -> Result<Value, Refusal> {
        if let Some(first) = arguments.first() {
            let condition = self
                .value(text, *first)
                .map(|value| self.condition_of(text, *first, value).unwrap_or(Condition::Unknown));
            self.assume(text, node, understood(condition)?)?;
        }
        Ok(Value::HostOnly)
    }

    /// `TORCH_CHECK_EQ(left, right)` and other checks whose name is the comparison.
    pub(super) fn comparing_check(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        symbol: &str,
        arguments: &[Node<'_>],
    ) -> Result<Value, Refusal> {
        let [left, right, ..] = arguments else {
            return Err(text.refused(node, Why::Syntax));
        };
        let condition = self.value(text, *left).and_then(|left| {
            let right = self.value(text, *right)?;
            let value = self.combined(text, node, symbol, left, right)?;
            self.condition_of(text, node, value)
        });
        self.assume(text, node, understood(condition)?)?;
        Ok(Value::HostOnly)
    }

    /// Records a condition that holds for every call.
    pub(super) fn assume(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        condition: Condition,
    ) -> Result<(), Refusal> {
        match condition {
            Condition::Always(true) => {}
            Condition::Always(false) => return Err(text.refused(node, Why::AlwaysFails)),
            Condition::And(left, right) => {
                self.assume(text, node, *left)?;
                self.assume(text, node, *right)?;
            }
            Condition::Given => self.note(text, node, NoteKind::GivenByProject),
            Condition::SameShape(left, right) => self.same_shapes.push((left, right)),
            Condition::HasDtype(tensor, dtype) => self.set_dtype(text, node, tensor, dtype)?,
            Condition::SameDtype(left, right) => self.link_dtypes(left, right),
            Condition::Compare(comparison, left, right) => {
                self.assume_comparison(text, node, comparison, left, right);
            }
            condition @ Condition::Or(..) => self.assume_alternatives(text, node, condition)?,
            Condition::Not(_) | Condition::Unknown => {
                self.note(text, node, NoteKind::UncheckedCondition);
            }
        }
        Ok(())
    }

    fn link_dtypes(&mut self, left: usize, right: usize) {
        let known = (self.dtype_of(left), self.dtype_of(right));
        let (target, from) = if known.0.is_none() { (left, right) } else { (right, left) };
        if let Some(facts) = self.tensors.get_mut(target)
            && facts.dtype.is_none()
            && facts.like.is_none()
        {
            facts.like = Some(from);
        }
    }

    fn assume_comparison(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        comparison: Comparison,
        left: Integer,
        right: Integer,
    ) {
        if let (Comparison::Equal, Integer::Fact(Fact::Rank(tensor)), Integer::Literal(rank)) =
            (comparison, &left, &right)
        {
            if let Some(facts) = self.tensors.get_mut(*tensor) {
                facts.rank = facts.rank.or(usize::try_from(*rank).ok().filter(|rank| *rank <= 8));
            }
            return;
        }
        let facts = left.facts().into_iter().chain(right.facts());
        if facts.into_iter().any(|fact| matches!(fact, Fact::Rank(_))) {
            self.note(text, node, NoteKind::UncheckedCondition);
        } else {
            self.requirements.push(Condition::Compare(comparison, left, right));
        }
    }

    /// `x.dtype() == kFloat || x.dtype() == kHalf` leaves a choice; sizes may have alternatives too.
    fn assume_alternatives(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        condition: Condition,
    ) -> Result<(), Refusal> {
        let mut choices = Vec::new();
        if let Some(tensor) = dtype_choices(&condition, &mut choices) {
            let dtype = self.choose(&choices).or(choices.first().copied());
            if let Some(dtype) = dtype {
                self.set_dtype(text, node, tensor, dtype)?;
            }
        } else if condition
            .text(&|fact| match fact {
                Fact::Rank(_) => None,
                Fact::Size { .. }
                | Fact::Stride { .. }
                | Fact::Elements(_)
                | Fact::Parameter(_) => Some(String::new()),
            })
            .is_some()
        {
            self.requirements.push(condition);
        } else {
            self.note(text, node, NoteKind::UncheckedCondition);
        }
        Ok(())
    }

    /// The dtype to take among several: the requested one, else f32. Records the others.
    pub(super) fn choose(&mut self, choices: &[Dtype]) -> Option<Dtype> {
        let wanted = self.known.dtype;
        let chosen = match wanted {
            Some(wanted) => choices.iter().copied().find(|dtype| *dtype == wanted)?,
            None if choices.contains(&Dtype::F32) => Dtype::F32,
            None => *choices.first()?,
        };
        self.offer(choices, chosen);
        Some(chosen)
    }

    /// Records the dtypes that a dispatch offers beside the chosen one.
    pub(super) fn offer(&mut self, choices: &[Dtype], chosen: Dtype) {
        for dtype in choices {
            if *dtype != chosen && !self.other_dtypes.contains(dtype) {
                self.other_dtypes.push(*dtype);
            }
        }
    }

    /// Whether a condition holds, where the wrapper or the choice of dtypes decides it.
    pub(super) fn decide(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        condition: &Condition,
    ) -> Result<Option<bool>, Refusal> {
        Ok(match condition {
            Condition::Always(value) => Some(*value),
            Condition::Given => Some(true),
            Condition::HasDtype(tensor, dtype) => {
                let known = self.dtype_of(*tensor);
                let chosen = match known {
                    Some(known) => known,
                    None => {
                        let mut choices = compared_dtypes(text, node);
                        if !choices.contains(dtype) {
                            choices.push(*dtype);
                        }
                        let chosen = self.choose(&choices);
                        let chosen = chosen.ok_or_else(|| text.refused(node, Why::NoSuchCase))?;
                        self.set_dtype(text, node, *tensor, chosen)?;
                        chosen
                    }
                };
                Some(chosen == *dtype)
            }
            Condition::Not(inner) => self.decide(text, node, inner)?.map(|value| !value),
            Condition::And(left, right) => {
                match (self.decide(text, node, left)?, self.decide(text, node, right)?) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    (None, _) | (_, None) => None,
                }
            }
            Condition::Or(left, right) => {
                match (self.decide(text, node, left)?, self.decide(text, node, right)?) {
                    (Some(true), _) | (_, Some(true)) => Some(true),
                    (Some(false), Some(false)) => Some(false),
                    (None, _) | (_, None) => None,
                }
            }
            Condition::Compare(..)
            | Condition::SameShape(..)
            | Condition::SameDtype(..)
            | Condition::Unknown => None,
        })
    }
}

/// The tensor whose dtypes a condition lists, if it lists nothing else.
fn dtype_choices(condition: &Condition, choices: &mut Vec<Dtype>) -> Option<usize> {
    match condition {
        Condition::HasDtype(tensor, dtype) => {
            choices.push(*dtype);
            Some(*tensor)
        }
        Condition::Or(left, right) => {
            let tensor = dtype_choices(left, choices)?;
            (dtype_choices(right, choices)? == tensor).then_some(tensor)
        }
        Condition::Always(_)
        | Condition::Compare(..)
        | Condition::And(..)
        | Condition::Not(_)
        | Condition::SameShape(..)
        | Condition::SameDtype(..)
        | Condition::Given
        | Condition::Unknown => None,
    }
}

/// The dtypes that the conditions of a chain of branches name.
fn compared_dtypes(text: Text<'_>, branch: Node<'_>) -> Vec<Dtype> {
    let mut found = Vec::new();
    for condition in all(branch, &["condition_clause"]) {
        for name in all(condition, &["qualified_identifier"]) {
            let last = named(name).pop();
            let dtype = last.and_then(|last| dtypes::from_constant(text.of(last)));
            found.extend(dtype.filter(|dtype| !found.contains(dtype)));
        }
    }
    found
}
