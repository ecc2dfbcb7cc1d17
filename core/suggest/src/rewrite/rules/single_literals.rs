//! Floating-point literals with the suffix `f`, in expressions of f32.

use lightbench_primitives::dtype::Dtype;

use super::super::Rule;
use super::super::edit::{Edit, Rewrite};
use super::super::kernel_source::KernelSource;
use super::super::refusal::{Findings, Missing, NotApplicable};
use super::super::scalar_type::{ScalarType, scalar_type};
use super::super::syntax::{all, part};

pub(in super::super) const RULE: Rule = Rule {
    id: "single-literals",
    title: "write numbers as f32",
    reason: "one literal without f makes a whole expression f64, which most devices compute at a 64th of the rate",
    needs: "a literal without `f` beside an f32 operand, and a task without f64",
    technique: "no-double",
    apply,
};

fn apply(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    let wide = subject.definition.tensors.iter().find(|tensor| tensor.dtype == Dtype::F64);
    for function in subject.functions() {
        for literal in all(function.body, &["number_literal"]) {
            if scalar_type(&function, literal) != Some(ScalarType::F64) {
                continue;
            }
            let line = function.line(literal);
            if let Some(tensor) = wide {
                let what = tensor.name.clone();
                found.refuse(line, Missing::Contains { what, why: "a tensor of f64" });
                continue;
            }
            let outer = literal.parent().filter(|outer| outer.kind() == "binary_expression");
            let sides = outer.map(|outer| [part(outer, "left"), part(outer, "right")]);
            let beside =
                sides.into_iter().flatten().flatten().filter(|side| side.id() != literal.id());
            let is_single = beside
                .into_iter()
                .any(|side| scalar_type(&function, side) == Some(ScalarType::F32));
            if is_single {
                let text = subject.of_node(literal);
                let edit = Edit::insert(literal.end_byte(), "f");
                let what = format!("`{text}` of line {line} is an f32");
                found.offer(Rewrite::new(what, line, vec![edit]));
            } else {
                let found_text = subject.line_of(literal.parent().unwrap_or(literal));
                found.refuse(
                    line,
                    Missing::Form {
                        found: found_text,
                        expected: "an f32 operand beside the literal",
                    },
                );
            }
        }
    }
    found.finish("number without f in a launched kernel")
}
