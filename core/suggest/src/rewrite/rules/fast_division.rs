//! Divisions of f32 by approximate functions: `__fdividef`, and `rsqrtf` for the reciprocal of a root.

use lightbench_cuda_source::Node;

use super::super::Rule;
use super::super::edit::{Edit, Rewrite};
use super::super::function::Function;
use super::super::kernel_source::KernelSource;
use super::super::refusal::{Findings, Missing, NotApplicable};
use super::super::scalar_type::{ScalarType, scalar_type};
use super::super::syntax::{all, ancestors, bare, named, part};

pub(in super::super) const RULE: Rule = Rule {
    id: "fast-division",
    title: "divide by an approximate instruction",
    reason: "a division that rounds correctly is a sequence of instructions with a branch, __fdividef a reciprocal and a product",
    needs: "a division of f32 by f32 that is no constant expression",
    technique: "reciprocals",
    apply: division,
};

pub(in super::super) const ROOT: Rule = Rule {
    id: "reciprocal-root",
    title: "compute one over a root by one instruction",
    reason: "rsqrtf is one instruction of the special-function unit; a root and a division are a sequence each",
    needs: "`1.0f / sqrtf(…)`",
    technique: "reciprocals",
    apply: root,
};

fn division(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    each(subject, "division of f32 by f32", |function, node, left, operator, right| {
        if one_over_root(function, left, right).is_some() {
            let found = function.subject.line_of(node);
            return Err(Missing::Form {
                found,
                expected: "no root below 1, which is another rule's",
            });
        }
        let edits = vec![
            Edit::insert(node.start_byte(), "__fdividef("),
            Edit::replace(left.end_byte()..operator.end_byte(), ","),
            Edit::insert(node.end_byte(), ")"),
        ];
        let line = function.line(node);
        let what =
            format!("`{}` of line {line} is divided approximately", function.subject.line_of(node));
        Ok(Rewrite::new(what, line, edits))
    })
}

fn root(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    each(subject, "division of 1 by a root", |function, node, left, _, right| {
        let line = function.line(node);
        let found = function.subject.line_of(node);
        let Some(callee) = one_over_root(function, left, right) else {
            return Err(Missing::Form { found, expected: "1.0f over sqrtf" });
        };
        let edits = vec![Edit::replace(node.start_byte()..callee.end_byte(), "rsqrtf")];
        let what = format!("`{found}` of line {line} becomes one rsqrtf");
        Ok(Rewrite::new(what, line, edits))
    })
}

/// Every division of f32 that runs on the device.
fn each(
    subject: &KernelSource<'_>,
    wanted: &'static str,
    rewrite: impl for<'s> Fn(
        &Function<'s>,
        Node<'s>,
        Node<'s>,
        Node<'s>,
        Node<'s>,
    ) -> Result<Rewrite, Missing>,
) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        for node in all(function.body, &["binary_expression"]) {
            let parts = (part(node, "left"), part(node, "operator"), part(node, "right"));
            let (Some(left), Some(operator), Some(right)) = parts else { continue };
            let is_single = scalar_type(&function, node) == Some(ScalarType::F32);
            if subject.of_node(operator) != "/" || !is_single {
                continue;
            }
            let line = function.line(node);
            if is_constant(&function, node) {
                let what = subject.line_of(node);
                found.refuse(line, Missing::Already { what, has: "a value when it is compiled" });
                continue;
            }
            found.add(line, rewrite(&function, node, left, operator, right));
        }
    }
    found.finish(wanted)
}

fn is_constant(function: &Function<'_>, node: Node<'_>) -> bool {
    ancestors(node).any(|outer| {
        outer.kind() == "declaration"
            && function.subject.of_node(outer).trim_start().starts_with("constexpr")
    })
}

/// The name of the root's function.
fn one_over_root<'s>(function: &Function<'s>, left: Node<'s>, right: Node<'s>) -> Option<Node<'s>> {
    let call = Some(bare(right))
        .filter(|node| node.kind() == "call_expression" && node.id() == right.id())?;
    let callee = part(call, "function")?;
    let one = matches!(function.subject.of_node(bare(left)), "1.0f" | "1.f" | "1");
    let arguments = named(part(call, "arguments")?);
    let is_single =
        arguments.iter().all(|node| scalar_type(function, *node) == Some(ScalarType::F32));
    let is_root = match function.subject.of_node(callee) {
        "sqrtf" => true,
        "sqrt" => is_single,
        _ => false,
    };
    (one && is_root).then_some(callee)
}
