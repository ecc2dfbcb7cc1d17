//! Compiles kernels with the compiler of this machine, runs them on the virtual GPU and compares.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use lightbench_core::cancellation::Cancellation;
use lightbench_core::compile::{Build, CompileJob, Compiler};
use lightbench_core::device::ComputeCapability;
use lightbench_core::project::launch::Architecture;
use lightbench_core::project::{Candidate, Kernel, Selection};
use lightbench_core::virtual_gpu::{
    Access, Argument, BufferId, Checks, DeviceShape, InitialContent, LaunchConfig, Machine, Module,
    Races,
};
use lightbench_core::worker::command::WorkerCommand;

use super::case::{Case, Expected, Given, Initially, Variant};
use crate::compiler;
use crate::program::{repository, shared_cache};

const LIMIT: Duration = Duration::from_secs(60);
const ARCHITECTURES: [ComputeCapability; 3] =
    [ComputeCapability(8, 0), ComputeCapability(9, 0), ComputeCapability(10, 0)];
/// Where the builds of some kernels only are tried.
const VARIANTS_ON: ComputeCapability = ComputeCapability(9, 0);
const MOST_STEPS: u64 = 1 << 24;

/// Runs every case in its builds on every architecture, and reports all that is wrong.
pub(super) fn check(cases: &[Case]) {
    let Some(found) = compiler::required() else { return };
    let command = WorkerCommand::new(env!("CARGO_BIN_EXE_lightbench"), ["worker"]);
    let cache = Some(shared_cache().to_owned());
    let compiler = Compiler::new(found.toolchain.clone(), command, cache);
    let mut bench = Bench { compiler, modules: HashMap::new() };
    let mut problems = Vec::new();
    for case in cases {
        for capability in ARCHITECTURES {
            problems.extend(bench.problems(case, capability, None));
        }
        for variant in &case.variants {
            problems.extend(bench.problems(case, VARIANTS_ON, Some(*variant)));
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

struct Bench {
    compiler: Compiler,
    /// By file, capability and variant: kernels of one file are compiled once.
    modules: HashMap<String, Result<Module, String>>,
}

impl Bench {
    fn problems(
        &mut self,
        case: &Case,
        capability: ComputeCapability,
        variant: Option<Variant>,
    ) -> Vec<String> {
        let path = repository().join("tests/kernels").join(case.file).with_extension("cu");
        let text = fs::read_to_string(&path).unwrap();
        if oldest(&text) > capability {
            return Vec::new();
        }
        let kernel = Kernel::load_standalone(&path).unwrap();
        let name = format!("{} for {capability} {variant:?}", case.file);
        let compiler = &mut self.compiler;
        let compiled = self.modules.entry(name.clone()).or_insert_with(|| {
            let options = match variant {
                Some(Variant::FastMath) => vec!["--use_fast_math".to_owned()],
                Some(Variant::AsWritten) | None => Vec::new(),
            };
            let build = match variant {
                Some(Variant::AsWritten) => Build::AsWritten,
                Some(Variant::FastMath) | None => Build::Optimised,
            };
            let candidate = Candidate::standalone(&kernel, selection(options)).unwrap();
            let job = CompileJob::new(&candidate, capability, build);
            let compiled = compiler.compile(&job, LIMIT, &Cancellation::new());
            let artifact = compiled.map_err(|error| error.to_string())?.artifact;
            Module::load(&artifact.ptx).map_err(|errors| errors[0].to_string())
        });
        let said = |problem: String| format!("{}, kernel {}: {problem}", name, case.kernel);
        match compiled {
            Ok(module) => run(case, module).into_iter().map(said).collect(),
            Err(error) => vec![said(error.clone())],
        }
    }
}

/// The oldest target that has what a kernel uses, as its `// arch: 80` says.
fn oldest(text: &str) -> ComputeCapability {
    let number = text.lines().find_map(|line| line.strip_prefix("// arch: "));
    let number = number.map_or(75, |number| number.trim().parse().unwrap());
    ComputeCapability(number / 10, number % 10)
}

fn selection(options: Vec<String>) -> Selection {
    Selection {
        triton: Vec::new(),
        parameters: Vec::new(),
        constants: Vec::new(),
        options,
        architecture: Architecture::Portable,
        name_expressions: Vec::new(),
    }
}

/// Replays of a case whose strong reads may return older values.
const SEEDS: u64 = 8;

/// What is wrong with a case: with one run, and with replays where there is anything to replay.
fn run(case: &Case, module: &Module) -> Vec<String> {
    let (mut problems, stale_reads) = run_once(case, module, Races::CudaIdiom);
    if stale_reads > 0 {
        for seed in 0..SEEDS {
            let (found, _) = run_once(case, module, Races::Replayed { seed });
            problems.extend(found.iter().map(|what| format!("replay {seed}: {what}")));
        }
    }
    problems
}

/// What is wrong with one run, and how many instructions may read older values.
fn run_once(case: &Case, module: &Module, races: Races) -> (Vec<String>, usize) {
    let mut machine = Machine::new(DeviceShape::default());
    let mut results = Vec::new();
    let arguments = case
        .arguments
        .iter()
        .enumerate()
        .map(|(index, given)| argument(&mut machine, index, given, &mut results))
        .collect();
    let mut config = LaunchConfig::new(case.grid, case.block, arguments);
    config.dynamic_shared = case.shared;
    config.cooperative = case.cooperative;
    config.max_steps = MOST_STEPS;
    config.checks = Checks { uninitialized: true, races };
    let report = match machine.launch(module, case.kernel, &config) {
        Ok(report) => report,
        Err(error) => return (vec![error.to_string()], 0),
    };
    let mut problems: Vec<String> = report.faults.iter().map(ToString::to_string).collect();
    if report.printed != case.printed {
        problems.push(format!("printed {:?} instead of {:?}", report.printed, case.printed));
    }
    for (index, buffer, expected) in results {
        let uninitialised = machine.uninitialised(buffer);
        let first = uninitialised.first().map(|range| range.start);
        problems.extend(first.map(|at| format!("argument {index}: byte {at} is uninitialised")));
        let wrong = expected.problem(&machine.read(buffer));
        problems.extend(wrong.map(|problem| format!("argument {index}: {problem}")));
    }
    (problems, report.stale_reads)
}

fn argument<'a>(
    machine: &mut Machine,
    index: usize,
    given: &'a Given,
    results: &mut Vec<(usize, BufferId, &'a Expected)>,
) -> Argument {
    let mut make = |length: usize, access, initial| {
        let name = format!("argument {index}");
        machine.buffer(&name, length as u64, access, initial).unwrap()
    };
    match given {
        Given::Value(bytes) => Argument::Bytes(bytes.clone()),
        Given::Record(members) => {
            let pointer = |member| match argument(machine, index, member, results) {
                Argument::Buffer(buffer) => machine.address(buffer).to_le_bytes().to_vec(),
                Argument::Bytes(bytes) => bytes,
                Argument::Texture { .. } => panic!("records have no textures"),
            };
            Argument::Bytes(members.iter().flat_map(pointer).collect())
        }
        Given::Input(bytes) => {
            let initial = InitialContent::Bytes(bytes.clone());
            Argument::Buffer(make(bytes.len(), Access::ReadOnly, initial))
        }
        Given::Buffer { initial, expected } => {
            let (length, initial) = match initial {
                Initially::Unwritten(length) => (*length, InitialContent::Uninitialised),
                Initially::Bytes(bytes) => (bytes.len(), InitialContent::Bytes(bytes.clone())),
            };
            let buffer = make(length, Access::ReadWrite, initial);
            results.push((index, buffer, expected));
            Argument::Buffer(buffer)
        }
    }
}
