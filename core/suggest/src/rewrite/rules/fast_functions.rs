//! Approximate functions of the special-function unit, one call at a time.

use super::super::Rule;
use super::super::edit::{Edit, Rewrite};
use super::super::kernel_source::KernelSource;
use super::super::refusal::{Findings, Missing, NotApplicable};
use super::super::scalar_type::{ScalarType, scalar_type};
use super::super::syntax::{named, part};

pub(in super::super) const RULE: Rule = Rule {
    id: "fast-functions",
    title: "use an approximate function",
    reason: "__expf and its like are a multiplication and one instruction of the special-function unit",
    needs: "a call of expf, logf, sinf and their like with f32 arguments",
    technique: "fast-functions",
    apply,
};

/// CUDA C++ Programming Guide, intrinsic functions; the names without `f` are C++'s overloads for f32.
const FAST: &[(&str, &str, &str)] = &[
    ("expf", "exp", "__expf"),
    ("exp10f", "exp10", "__exp10f"),
    ("logf", "log", "__logf"),
    ("log2f", "log2", "__log2f"),
    ("log10f", "log10", "__log10f"),
    ("sinf", "sin", "__sinf"),
    ("cosf", "cos", "__cosf"),
    ("tanf", "tan", "__tanf"),
    ("powf", "pow", "__powf"),
];

fn apply(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        for (name, call) in function.calls(function.body) {
            let Some((_, _, fast)) =
                FAST.iter().find(|(single, any, _)| name == *single || name == *any)
            else {
                continue;
            };
            let Some(callee) = part(call, "function") else { continue };
            let line = function.line(call);
            let arguments = part(call, "arguments").map_or_else(Vec::new, named);
            let is_single = |node: &lightbench_cuda_source::Node<'_>| {
                scalar_type(&function, *node) == Some(ScalarType::F32)
            };
            if !name.ends_with('f') && !arguments.iter().all(is_single) {
                let found_text = subject.line_of(call);
                found.refuse(
                    line,
                    Missing::Form {
                        found: found_text,
                        expected: "arguments that are f32 for certain",
                    },
                );
                continue;
            }
            let edit = Edit::replace(callee.byte_range(), *fast);
            let what = format!("`{}` of line {line} is computed by {fast}", subject.line_of(call));
            found.offer(Rewrite::new(what, line, vec![edit]));
        }
    }
    found.finish("call of a function with an approximate counterpart")
}
