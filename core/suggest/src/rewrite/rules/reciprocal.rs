//! Divisions by a loop invariant replaced by one reciprocal before the loop and products inside.

use lightbench_cuda_source::Node;

use super::super::Rule;
use super::super::edit::{Edit, Rewrite};
use super::super::function::Function;
use super::super::kernel_source::KernelSource;
use super::super::loops::{is_invariant, statement_start};
use super::super::refusal::{Findings, Missing, NotApplicable};
use super::super::scalar_type::{ScalarType, scalar_type};
use super::super::syntax::{all, ancestors, enclosing, is_compound, part};

pub(in super::super) const RULE: Rule = Rule {
    id: "reciprocal",
    title: "divide once before a loop and multiply inside",
    reason: "a division that rounds correctly is a sequence of instructions with a branch, a product one",
    needs: "a division of f32 in a loop, by something that the loop does not change",
    technique: "reciprocals",
    apply,
};

fn apply(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        for node in all(function.body, &["binary_expression"]) {
            let operator = part(node, "operator").map_or("", |node| subject.of_node(node));
            let around = enclosing(node, &["for_statement", "while_statement"]);
            let is_single = scalar_type(&function, node) == Some(ScalarType::F32);
            if operator == "/"
                && is_single
                && let Some(innermost) = around
            {
                found.add(function.line(node), hoisted(&function, node, innermost));
            }
        }
    }
    found.finish("division of f32 in a loop")
}

fn hoisted<'s>(
    function: &Function<'s>,
    node: Node<'s>,
    innermost: Node<'s>,
) -> Result<Rewrite, Missing> {
    let subject = function.subject;
    let form =
        |found: Node<'_>, expected| Missing::Form { found: subject.line_of(found), expected };
    let parts = part(node, "operator").zip(part(node, "right"));
    let (operator, divisor) = parts.ok_or_else(|| form(node, "two operands"))?;
    if divisor.kind() == "number_literal" {
        return Err(Missing::Already {
            what: subject.line_of(divisor),
            has: "a value when it is compiled",
        });
    }
    // The outermost loop that leaves the divisor alone, without leaving a lambda.
    let around = ancestors(node)
        .take_while(|outer| !matches!(outer.kind(), "function_definition" | "lambda_expression"));
    let outermost = around
        .filter(|outer| matches!(outer.kind(), "for_statement" | "while_statement"))
        .take_while(|outer| is_invariant(function, divisor, *outer))
        .last();
    let Some(turning) = outermost else {
        return Err(form(divisor, "a divisor that the loop does not change"));
    };
    let start = statement_start(turning).ok_or_else(|| form(innermost, "a loop in a block"))?;
    let name = subject.fresh(&named_after(subject.of_node(divisor)));
    let text = subject.of_node(divisor);
    let whole = if is_compound(divisor) { format!("({text})") } else { text.to_owned() };
    let line_start = subject.line_start(start);
    let before = subject.source.get(line_start..start).unwrap_or_default();
    if !before.trim().is_empty() {
        return Err(form(turning, "a loop that begins a line"));
    }
    let start = line_start;
    let indentation = subject.indentation(turning.start_byte());
    let edits = vec![
        Edit::insert(start, format!("{indentation}const float {name} = 1.0f / {whole};\n")),
        Edit::replace(operator.byte_range(), "*"),
        Edit::replace(divisor.byte_range(), name.clone()),
    ];
    let line = function.line(node);
    let what = format!(
        "line {line} multiplies by `{name}`, made once before line {}",
        function.line(turning)
    );
    Ok(Rewrite::new(what, line, edits))
}

/// `sum` is divided by as `sum_reciprocal`.
fn named_after(divisor: &str) -> String {
    let is_name = divisor.chars().all(|letter| letter == '_' || letter.is_ascii_alphanumeric());
    if is_name { format!("{divisor}_reciprocal") } else { "reciprocal".to_owned() }
}
