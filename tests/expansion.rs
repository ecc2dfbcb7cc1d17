//! The table of machine instructions for each of PTX: made from real kernels, and compared with them again.
//!
//! `cargo test -p lightbench -- --ignored the_table_is_made` writes `assets/expansion.ron` anew. For each
//! architecture the static counts of a kernel's machine instructions are explained by the counts of its PTX
//! instructions by kind: least squares of the relative error with factors that are not negative, drawn towards one.
//! Machine instructions behind the kernel's own end (functions for the rare cases of a division) are left out, and so
//! are kernels with calls.

use std::fmt::Write as _;
use std::path::Path;

use lightbench_core::cancellation::Cancellation;
use lightbench_core::compile::sass::SassFunction;
use lightbench_core::compile::{Build, CompileJob, Compiler};
use lightbench_core::device::ComputeCapability;
use lightbench_core::project::{Candidate, Kernel};
use lightbench_core::virtual_gpu::Module;
use lightbench_core::virtual_gpu::cost::Kind;
use lightbench_core::virtual_gpu::cost::expansion::{Expansion, kinds_of};
use lightbench_core::worker::command::WorkerCommand;

use crate::compiler;
use crate::program::{repository, shared_cache};
use crate::virtual_gpu::{LIMIT, kernels, nothing_chosen};

/// One kernel: PTX instructions by kind (the last is 1, for what every kernel begins with), machine instructions.
struct Sample {
    ptx: Vec<f64>,
    machine: f64,
}

#[test]
fn the_table_holds_for_what_the_compiler_makes_here() {
    let capability = ComputeCapability(9, 0);
    let Some(samples) = samples(capability) else { return };
    let expansion = Expansion::from_compute_capability((9, 0)).unwrap();
    assert_eq!(expansion.compute_capability, (9, 0));
    let mut errors: Vec<f64> =
        samples.iter().map(|sample| error(&factors(expansion), sample)).collect();
    let median = quantile(&mut errors, 0.5);
    assert!(median <= expansion.median_error + 0.05, "{median} against {expansion:?}");
}

#[test]
#[ignore = "writes the table"]
fn the_table_is_made() {
    let mut text = String::from(
        "// Machine instructions for one PTX instruction of each kind; `start` is what every kernel begins with.\n\
         // Made by `cargo test -p lightbench -- --ignored the_table_is_made` with NVRTC from tests/kernels.\n[\n",
    );
    for capability in [(8, 0), (9, 0), (10, 0)] {
        let samples = samples(ComputeCapability(capability.0, capability.1)).unwrap();
        let (strength, mut errors, mut ratios) = [0.003, 0.01, 0.03, 0.1, 0.3]
            .map(|strength| judge(&samples, strength))
            .into_iter()
            .min_by(|a, b| mean(&a.1).total_cmp(&mean(&b.1)))
            .unwrap();
        let fitted = fit(&samples, strength);
        let keys = Kind::ALL.iter().map(|kind| kind.key()).chain(["start"]);
        // A kind that no kernel has is not fitted.
        let seen = |index: usize| samples.iter().any(|sample| sample.ptx[index] > 0.0);
        let factors: Vec<String> = keys
            .zip(&fitted)
            .enumerate()
            .filter(|(index, _)| seen(*index))
            .map(|(_, (key, factor))| format!("        \"{key}\": {factor:.3},\n"))
            .collect();
        writeln!(
            text,
            "    (\n        compute_capability: {capability:?},\n        kernels: {},\n        median_error: {:.3},\n        band: ({:.3}, {:.3}),\n        factors: {{\n{}        }},\n    ),",
            samples.len(),
            quantile(&mut errors, 0.5),
            quantile(&mut ratios.clone(), 0.05),
            quantile(&mut ratios, 0.95),
            factors.concat().replace("        \"", "            \"")
        )
        .unwrap();
    }
    text.push_str("]\n");
    std::fs::write(repository().join("assets/expansion.ron"), text).unwrap();
}

/// Every kernel without calls that the virtual GPU executes; none without a compiler.
fn samples(capability: ComputeCapability) -> Option<Vec<Sample>> {
    let found = compiler::required()?;
    let command = WorkerCommand::new(env!("CARGO_BIN_EXE_lightbench"), ["worker"]);
    let cache = Some(shared_cache().to_owned());
    let mut compiler = Compiler::new(found.toolchain.clone(), command, cache);
    let mut samples = Vec::new();
    for file in kernels() {
        if oldest_target(&file) > 10 * capability.0 + capability.1 {
            continue;
        }
        let kernel = Kernel::load_standalone(&file).unwrap();
        let candidate = Candidate::standalone(&kernel, nothing_chosen()).unwrap();
        let job = CompileJob::new(&candidate, capability, Build::Optimised);
        let artifact = compiler.compile(&job, LIMIT, &Cancellation::new()).unwrap().artifact;
        let Ok(module) = Module::load(&artifact.ptx) else { continue };
        for function in compiler.disassemble(&artifact, &Cancellation::new()).unwrap() {
            let Some(kinds) = kinds_of(&module, &function.name) else { continue };
            if kinds.contains_key(&Kind::Call) {
                continue;
            }
            let count = |kind: &Kind| kinds.get(kind).copied().unwrap_or(0) as f64;
            let ptx = Kind::ALL.iter().map(count).chain([1.0]).collect();
            samples.push(Sample { ptx, machine: machine_instructions(&function) });
        }
    }
    assert!(samples.len() >= 30, "{} kernels for {capability}", samples.len());
    Some(samples)
}

/// What the file's `// arch: 80` says.
fn oldest_target(file: &Path) -> u32 {
    let text = std::fs::read_to_string(file).unwrap();
    let named = text.lines().find_map(|line| line.strip_prefix("// arch: "));
    named.map_or(0, |named| named.trim().parse().unwrap())
}

/// Those of the kernel itself, without the padding behind its end.
fn machine_instructions(function: &SassFunction) -> f64 {
    let inner =
        function.labels.iter().filter(|(name, address)| name.starts_with('$') && *address > 0);
    let end = inner.map(|(_, address)| *address).min().unwrap_or(u64::MAX);
    let own = function.instructions.iter().filter(|instruction| instruction.address < end);
    let mut opcodes: Vec<&str> = own.map(|instruction| instruction.opcode.as_str()).collect();
    while opcodes.last().is_some_and(|opcode| matches!(*opcode, "NOP" | "BRA")) {
        opcodes.pop();
    }
    opcodes.len() as f64
}

fn factors(expansion: &Expansion) -> Vec<f64> {
    let keys = Kind::ALL.iter().map(|kind| kind.key()).chain(["start"]);
    keys.map(|key| expansion.factors.get(key).copied().unwrap_or(1.0)).collect()
}

fn predicted(factors: &[f64], sample: &Sample) -> f64 {
    factors.iter().zip(&sample.ptx).map(|(factor, count)| factor * count).sum()
}

fn error(factors: &[f64], sample: &Sample) -> f64 {
    (predicted(factors, sample) / sample.machine - 1.0).abs()
}

/// Errors and ratios of every kernel by the factors that the other kernels give.
fn judge(samples: &[Sample], strength: f64) -> (f64, Vec<f64>, Vec<f64>) {
    let mut errors = Vec::new();
    let mut ratios = Vec::new();
    for left_out in 0..samples.len() {
        let others: Vec<&Sample> =
            samples.iter().enumerate().filter(|(i, _)| *i != left_out).map(|(_, s)| s).collect();
        let fitted = fit_to(&others, strength);
        errors.push(error(&fitted, &samples[left_out]));
        ratios.push(samples[left_out].machine / predicted(&fitted, &samples[left_out]));
    }
    (strength, errors, ratios)
}

fn fit(samples: &[Sample], strength: f64) -> Vec<f64> {
    fit_to(&samples.iter().collect::<Vec<_>>(), strength)
}

/// Coordinate descent: each factor in turn takes its best value.
fn fit_to(samples: &[&Sample], strength: f64) -> Vec<f64> {
    let columns = Kind::ALL.len() + 1;
    let shares: Vec<Vec<f64>> =
        samples.iter().map(|s| s.ptx.iter().map(|count| count / s.machine).collect()).collect();
    let mut factors = vec![1.0; columns];
    for _ in 0..500 {
        for column in 0..columns {
            let (mut top, mut bottom) = (strength, strength);
            for share in &shares {
                let others: f64 = (0..columns)
                    .filter(|other| *other != column)
                    .map(|other| factors[other] * share[other])
                    .sum();
                top += share[column] * (1.0 - others);
                bottom += share[column] * share[column];
            }
            factors[column] = (top / bottom).max(0.0);
        }
    }
    factors
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn quantile(values: &mut [f64], part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * part).round() as usize]
}
