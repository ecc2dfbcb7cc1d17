//! `#pragma unroll` with a parameter as its factor.

use lightbench_cuda_source::Node;

use super::super::Rule;
use super::super::edit::{Edit, Rewrite};
use super::super::function::Function;
use super::super::kernel_source::KernelSource;
use super::super::loops::{is_innermost, loops, pragma, statement_start};
use super::super::refusal::{Findings, Missing, NotApplicable};

pub(in super::super) const RULE: Rule = Rule {
    id: "unroll",
    title: "unroll a loop by a tunable number of turns",
    reason: "fewer branches and index updates for each turn, and loads of several turns under way together",
    needs: "a loop in a launched kernel, on a line of its own, without `#pragma unroll` or with a number there",
    technique: "less-overhead",
    apply,
};

/// Factors to try; no unrolling comes last.
const VALUES: [i64; 4] = [4, 2, 8, 1];

fn apply(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        let all = loops(&function);
        let (inner, outer): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|node| is_innermost(*node));
        for node in inner.into_iter().chain(outer) {
            found.add(function.line(node), unrolled(&function, node));
        }
    }
    found.finish("loop in a launched kernel")
}

fn unrolled(function: &Function<'_>, node: Node<'_>) -> Result<Rewrite, Missing> {
    let subject = function.subject;
    let line = function.line(node);
    let name = subject.fresh("UNROLL");
    let start = subject.line_start(node.start_byte());
    let before = subject.source.get(start..node.start_byte()).unwrap_or_default();
    if statement_start(node).is_none() || !before.trim().is_empty() {
        let found = subject.line_of(node).chars().take(40).collect();
        return Err(Missing::Form { found, expected: "a loop that begins a line of a block" });
    }
    let mut values = VALUES.to_vec();
    let edit = match pragma(node) {
        None => Edit::insert(start, format!("#pragma unroll PARAM_{name}\n")),
        Some(pragma) => {
            let text = subject.of_node(pragma);
            let number = text.trim_start_matches('#').trim_start().strip_prefix("pragma");
            let number = number.and_then(|rest| rest.trim().strip_prefix("unroll")).map(str::trim);
            let Some(turns) = number.and_then(|number| number.parse::<i64>().ok()) else {
                let what = subject.line_of(pragma);
                return Err(Missing::Already { what, has: "a say in how this loop is unrolled" });
            };
            values.retain(|value| *value != turns);
            values.insert(0, turns);
            let end = pragma.start_byte() + text.trim_end().len();
            Edit::replace(pragma.start_byte()..end, format!("#pragma unroll PARAM_{name}"))
        }
    };
    let parameter = subject.new_parameter(&name, &values)?;
    let what = format!("the loop of line {line} is unrolled by `{name}` turns");
    Ok(Rewrite::new(what, line, vec![edit, parameter]))
}
