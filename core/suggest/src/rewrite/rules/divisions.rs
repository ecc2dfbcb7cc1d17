//! Divisions of 64-bit integers in 32 bits, where the limits of the axes prove that the operands fit.

use lightbench_cuda_source::Node;

use super::super::Rule;
use super::super::bounds::bounds;
use super::super::edit::{Edit, Rewrite};
use super::super::function::Function;
use super::super::kernel_source::KernelSource;
use super::super::refusal::{Findings, Missing, NotApplicable};
use super::super::scalar_type::{ScalarType, scalar_type};
use super::super::syntax::{all, part};

pub(in super::super) const RULE: Rule = Rule {
    id: "narrow-division",
    title: "divide in 32 bits",
    reason: "no unit divides whole numbers: the code for 64 bits is several times as long as that for 32",
    needs: "`/` or `%` of 64-bit whole numbers, and axes whose limits keep both operands from 0 below 2^32",
    technique: "no-integer-division",
    apply,
};

fn apply(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        for node in all(function.body, &["binary_expression"]) {
            let operator = part(node, "operator").map_or("", |node| subject.of_node(node));
            let is_wide = scalar_type(&function, node).is_some_and(ScalarType::is_wide_integer);
            if matches!(operator, "/" | "%") && is_wide {
                found.add(function.line(node), narrowed(&function, node));
            }
        }
    }
    found.finish("division of 64-bit whole numbers")
}

fn narrowed(function: &Function<'_>, node: Node<'_>) -> Result<Rewrite, Missing> {
    let subject = function.subject;
    let form = || Missing::Form { found: subject.line_of(node), expected: "two operands" };
    let (left, right) =
        (part(node, "left").ok_or_else(form)?, part(node, "right").ok_or_else(form)?);
    let divisor = bounds(function, right);
    if divisor.is_some_and(|(low, high)| low == high) {
        let what = subject.line_of(right);
        return Err(Missing::Already { what, has: "a value when it is compiled" });
    }
    for (operand, least) in [(left, 0), (right, 1)] {
        let what = subject.line_of(operand);
        let (low, high) =
            bounds(function, operand).ok_or(Missing::Unbounded { what: what.clone() })?;
        let limit = i128::from(u32::MAX);
        if low < least || high > limit {
            return Err(Missing::TooLarge { what, most: high, limit });
        }
    }
    let wide = if scalar_type(function, node) == Some(ScalarType::U64) {
        "unsigned long long"
    } else {
        "long long"
    };
    let edits = vec![
        Edit::insert(node.start_byte(), format!("static_cast<{wide}>(static_cast<unsigned int>(")),
        Edit::insert(left.end_byte(), ")"),
        Edit::insert(right.start_byte(), "static_cast<unsigned int>("),
        Edit::insert(right.end_byte(), "))"),
    ];
    let line = function.line(node);
    let what = format!("`{}` of line {line} is divided in 32 bits", subject.line_of(node));
    Ok(Rewrite::new(what, line, edits))
}
