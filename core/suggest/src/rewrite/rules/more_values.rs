//! More values of a block size parameter.

use lightbench_project::launch::{MAX_COMBINATIONS, Parameter};

use super::super::Rule;
use super::super::edit::Rewrite;
use super::super::kernel_source::KernelSource;
use super::super::refusal::{Findings, Missing, NotApplicable};

pub(in super::super) const RULE: Rule = Rule {
    id: "more-block-sizes",
    title: "let the tuner try more block sizes",
    reason: "the best size depends on registers, shared memory and the device; trying is cheaper than guessing",
    needs: "a parameter that is in the block of a launch and lacks a power of two beside its own values",
    technique: "larger-blocks",
    apply,
};

/// The most threads of a block; CUDA C++ Programming Guide, table of technical specifications.
const BLOCK_THREADS: i128 = 1024;

fn apply(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for (index, parameter) in subject.launch.parameters.iter().enumerate() {
        let is_size = subject.sites().iter().any(|site| {
            site.step.block.iter().any(|size| size.names().contains(parameter.name.as_str()))
        });
        if is_size {
            let at = subject.block.field("params").value(index).span.start;
            let line =
                subject.source.get(..at).map_or(1, |before| before.matches('\n').count() + 1);
            found.add(line, widened(subject, index, parameter, line));
        }
    }
    found.finish("parameter in the block of a launch")
}

fn widened(
    subject: &KernelSource<'_>,
    index: usize,
    parameter: &Parameter,
    line: usize,
) -> Result<Rewrite, Missing> {
    let name = &parameter.name;
    let powers =
        parameter.values.iter().all(|value| *value > 0 && value.unsigned_abs().is_power_of_two());
    if !powers {
        let found = format!("{:?}", parameter.values);
        return Err(Missing::Form { found, expected: "powers of two" });
    }
    let (least, most) = (parameter.values.iter().min(), parameter.values.iter().max());
    let (least, most) = (least.copied().unwrap_or(1), most.copied().unwrap_or(1));
    let values: Vec<i64> = (0..11)
        .map(|exponent| 1_i64 << exponent)
        .filter(|value| (least / 2..=most.saturating_mul(2)).contains(value))
        .filter(|value| !parameter.values.contains(value) && fits(subject, name, *value))
        .collect();
    if values.is_empty() {
        let what = name.clone();
        return Err(Missing::Already {
            what,
            has: "every size up to twice and down to half of its own that a block permits",
        });
    }
    let others = subject.launch.parameters.iter().filter(|other| other.name != *name);
    let count = others
        .map(|other| other.values.len())
        .try_fold(parameter.values.len() + values.len(), usize::checked_mul);
    let edit = subject
        .new_values(index, &values)
        .filter(|_| count.is_some_and(|count| count <= MAX_COMBINATIONS));
    let edit = edit.ok_or_else(|| Missing::Contains {
        what: name.clone(),
        why: "more values would be more combinations than a launch block may have",
    })?;
    let all: Vec<String> = values.iter().map(i64::to_string).collect();
    let what = format!("`{name}` may be {}, too", all.join(", "));
    Ok(Rewrite::new(what, line, vec![edit]))
}

/// Whether some block with this value has at least a warp and at most as many threads as a block may have.
fn fits(subject: &KernelSource<'_>, name: &str, value: i64) -> bool {
    let value = i128::from(value);
    subject.sites().iter().all(|site| {
        let sizes: Option<Vec<(i128, i128)>> = site
            .step
            .block
            .iter()
            .map(|size| {
                size.bounds(&|known| {
                    let parameter =
                        subject.launch.parameters.iter().find(|each| each.name == known)?;
                    let (low, high) =
                        (parameter.values.iter().min()?, parameter.values.iter().max()?);
                    Some(if known == name {
                        (value, value)
                    } else {
                        (i128::from(*low), i128::from(*high))
                    })
                })
            })
            .collect();
        sizes.is_some_and(|sizes| {
            let low: i128 = sizes.iter().map(|(low, _)| *low).product();
            let high: i128 = sizes.iter().map(|(_, high)| *high).product();
            low <= BLOCK_THREADS && high >= 32
        })
    })
}
