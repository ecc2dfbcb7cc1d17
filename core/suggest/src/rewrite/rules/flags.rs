//! Compiler flags of the closed list, one at a time.

use lightbench_project::launch::flags::Flag;

use super::super::Rule;
use super::super::edit::Rewrite;
use super::super::kernel_source::KernelSource;
use super::super::refusal::{Findings, Missing, NotApplicable};
use super::super::scalar_type::{ScalarType, scalar_type};
use super::super::syntax::{all, part};

pub(in super::super) const ARITHMETIC: Rule = Rule {
    id: "arithmetic-flags",
    title: "relax the arithmetic of a whole file",
    reason: "a flag does for every division, root or small number what intrinsics do one by one",
    needs: "a division or a root of f32 in a launched kernel, and a file without flags of arithmetic",
    technique: "fast-functions",
    apply: arithmetic,
};

pub(in super::super) const REGISTERS: Rule = Rule {
    id: "register-limit",
    title: "bound the registers of a thread by a tunable number",
    reason: "fewer registers make room for more warps, as long as nothing spills",
    needs: "a file without `maxrregcount`",
    technique: "fewer-registers",
    apply: registers,
};

fn arithmetic(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    let relaxed = subject.launch.flags.list().iter().any(|flag| {
        matches!(flag, Flag::FastMath | Flag::Ftz(_) | Flag::PrecDiv(_) | Flag::PrecSqrt(_))
    });
    if relaxed {
        let what = subject.launch.title.clone();
        found.refuse(1, Missing::Already { what, has: "flags of arithmetic" });
        return found.finish("flag");
    }
    for function in subject.functions() {
        let divides = all(function.body, &["binary_expression"]).into_iter().find(|node| {
            part(*node, "operator").map(|node| subject.of_node(node)) == Some("/")
                && scalar_type(&function, *node) == Some(ScalarType::F32)
        });
        let calls = function.calls(function.body);
        let root =
            calls.iter().find(|(name, _)| matches!(*name, "sqrtf" | "sqrt")).map(|(_, node)| *node);
        let special = calls.iter().find(|(name, _)| {
            matches!(*name, "expf" | "logf" | "sinf" | "cosf" | "powf" | "tanhf")
        });
        let special = special.map(|(_, node)| *node);
        for (node, flag, does) in [
            (divides, "prec_div(false)", "divisions may be off by two units in the last place"),
            (root, "prec_sqrt(false)", "roots may be off by three units in the last place"),
            (divides.or(root).or(special), "ftz(true)", "numbers below 2^-126 are zero"),
            (
                special.or(divides).or(root),
                "fast_math",
                "functions are approximate, and so are divisions and roots",
            ),
        ] {
            if let Some(node) = node {
                let line = function.line(node);
                let what = format!("{does}, as in line {line}");
                found.offer(Rewrite::new(what, line, vec![subject.new_flag(flag)]));
            }
        }
    }
    found.finish("division, root or function of f32 in a launched kernel")
}

fn registers(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    if subject.launch.flags.list().iter().any(|flag| matches!(flag, Flag::MaxRegisters(_))) {
        let what = subject.launch.title.clone();
        found.refuse(1, Missing::Already { what, has: "a bound on registers" });
        return found.finish("flag");
    }
    let name = subject.fresh("REGISTERS");
    let rewrite =
        subject.new_parameter(&name, &[64, 48, 40, 32, 80, 96, 128, 255]).map(|parameter| {
            let flag = subject.new_flag(&format!("maxrregcount(\"{name}\")"));
            Rewrite::new(
                format!("a thread has at most `{name}` registers"),
                1,
                vec![parameter, flag],
            )
        });
    found.add(1, rewrite);
    found.finish("launch block")
}
