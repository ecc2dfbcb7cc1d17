//! Small kernels with a known defect, each next to its corrected twin: the defect is found, the twin is not accused.
//!
//! Each file of these folders has a kernel `defect` and a kernel `fixed` and says in comments how both are launched
//! (`specimen.rs`). A folder is a test, so that folders run beside each other. `hopper.cuh` has the instructions of compute
//! capability 9.0 that the kernels include.

mod specimen;
mod values;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lightbench_core::cancellation::Cancellation;
use lightbench_core::compile::{Build, CompileJob, Compiler};
use lightbench_core::device::ComputeCapability;
use lightbench_core::project::launch::Architecture;
use lightbench_core::project::{Candidate, Kernel, Selection};
use lightbench_core::virtual_gpu::Module;
use lightbench_core::virtual_gpu::machine::{
    BufferId, Checks, DeviceShape, LaunchConfig, Machine, Races, Report, Schedule,
};
use lightbench_core::worker::command::WorkerCommand;

use crate::compiler;
use crate::program::{repository, shared_cache};
use specimen::Specimen;

const LIMIT: Duration = Duration::from_secs(60);

macro_rules! folders {
    ($($name:ident: $at_least:literal),* $(,)?) => {
        $(#[test]
        fn $name() {
            check(stringify!($name), $at_least);
        })*

        #[test]
        fn every_folder_is_tested() {
            let entries = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
            let mut found: Vec<String> =
                entries.filter(|path| path.is_dir()).map(|path| name_of(&path)).collect();
            found.sort();
            assert_eq!(found, [$(stringify!($name)),*]);
        }
    };
}

// How many kernels each has at least, in the order of the alphabet.
folders! {
    alignment: 5,
    async_copies: 5,
    barrier_objects: 8,
    barriers: 8,
    bounds: 20,
    bulk_copies: 7,
    clusters: 8,
    endings: 10,
    global_races: 15,
    phases: 5,
    products: 8,
    proxies: 6,
    read_only: 4,
    shared_races: 15,
    tensor_copies: 7,
    unwritten: 12,
    warps: 8,
    weak_memory: 9,
}

fn folder() -> PathBuf {
    repository().join("tests/defects")
}

fn name_of(path: &Path) -> String {
    path.file_stem().unwrap().to_str().unwrap().to_owned()
}

/// Judges every kernel of a folder and reports all that went wrong.
fn check(name: &str, at_least: usize) {
    let Some(found) = compiler::required() else { return };
    let command = WorkerCommand::new(env!("CARGO_BIN_EXE_lightbench"), ["worker"]);
    let cache = Some(shared_cache().to_owned());
    let mut compiler = Compiler::new(found.toolchain.clone(), command, cache);
    let files = kernels(&folder().join(name));
    assert!(files.len() >= at_least, "{} kernels in {name}", files.len());
    let mut problems = Vec::new();
    for file in files {
        let specimen = Specimen::read(&file);
        let path = format!("{name}/{}", specimen.name);
        for capability in specimen.capabilities() {
            let options = (specimen.build, specimen.architecture);
            let module = compile(&mut compiler, &file, capability, options);
            let found = judge(&specimen, &module);
            problems.extend(found.iter().map(|what| format!("{path}.cu for {capability}: {what}")));
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

fn kernels(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "cu"));
    files.sort();
    files
}

fn compile(
    compiler: &mut Compiler,
    file: &Path,
    capability: ComputeCapability,
    (build, architecture): (Build, Architecture),
) -> Module {
    let kernel = Kernel::load_standalone_with(file, &[folder()]).unwrap();
    let selection = Selection {
        triton: Vec::new(),
        parameters: Vec::new(),
        constants: Vec::new(),
        options: Vec::new(),
        architecture,
        name_expressions: Vec::new(),
    };
    let candidate = Candidate::standalone(&kernel, selection).unwrap();
    let job = CompileJob::new(&candidate, capability, build);
    let compiled = compiler.compile(&job, LIMIT, &Cancellation::new());
    let artifact = compiled.unwrap_or_else(|error| panic!("{}: {error}", kernel.name)).artifact;
    Module::load(&artifact.ptx).unwrap_or_else(|errors| panic!("{}: {}", kernel.name, errors[0]))
}

/// What went otherwise than the file says.
fn judge(specimen: &Specimen, module: &Module) -> Vec<String> {
    if specimen.replayed {
        return judge_replayed(specimen, module);
    }
    let mut problems = Vec::new();
    match launch(specimen, module, ("defect", specimen.mode)) {
        Ok(run) if !specimen.finds(&run.report) => problems.push(format!(
            "the defect is not found at {}; {}",
            specimen.wanted(),
            said(&run.report)
        )),
        Ok(_) => {}
        Err(error) => problems.push(error),
    }
    problems.extend(wrong_in(specimen, module, ("fixed", Races::CudaIdiom)));
    problems
}

/// Replays of a launch: the oldest permitted values, then any of them.
const SEEDS: u64 = 8;

/// The defect shows in no ordinary launch and in one of the replays; the twin is right in all.
fn judge_replayed(specimen: &Specimen, module: &Module) -> Vec<String> {
    let mut problems = Vec::new();
    let replays: Vec<Races> = (0..SEEDS).map(|seed| Races::Replayed { seed }).collect();
    match launch(specimen, module, ("defect", Races::CudaIdiom)) {
        Ok(run) if run.report.stale_reads == 0 => {
            problems.push("no replay is asked for".to_owned());
        }
        Ok(_) => {}
        Err(error) => problems.push(error),
    }
    problems.extend(wrong_in(specimen, module, ("defect", Races::CudaIdiom)));
    if replays.iter().all(|races| wrong_in(specimen, module, ("defect", *races)).is_empty()) {
        problems.push("no replay shows the defect".to_owned());
    }
    for races in [Races::CudaIdiom].iter().chain(&replays) {
        let found = wrong_in(specimen, module, ("fixed", *races));
        problems.extend(found.iter().map(|what| format!("{races:?}: {what}")));
    }
    problems
}

/// What is wrong in a launch that should be right.
fn wrong_in(specimen: &Specimen, module: &Module, launched: (&str, Races)) -> Vec<String> {
    let mut problems = Vec::new();
    match launch(specimen, module, launched) {
        Ok(run) if !run.report.faults.is_empty() => {
            problems.push(format!("`{}` is accused; {}", launched.0, said(&run.report)));
        }
        Ok(run) => problems.extend(specimen.unexpected(&run.machine, &run.buffers)),
        Err(error) => problems.push(error),
    }
    problems
}

fn said(report: &Report) -> String {
    let faults: Vec<String> = report.faults.iter().map(|fault| format!("\n    {fault}")).collect();
    if faults.is_empty() { "no fault".to_owned() } else { format!("found:{}", faults.concat()) }
}

/// A launch that is over.
struct Run {
    machine: Machine,
    report: Report,
    /// One for each argument.
    buffers: Vec<Option<BufferId>>,
}

fn launch(
    specimen: &Specimen,
    module: &Module,
    (kernel, races): (&str, Races),
) -> Result<Run, String> {
    let mut machine = Machine::new(DeviceShape::default());
    let (arguments, buffers) = specimen.arguments(&mut machine);
    let config = LaunchConfig {
        dynamic_shared: specimen.shared,
        max_steps: specimen.steps,
        checks: Checks { uninitialized: true, races },
        schedule: Schedule::Deterministic,
        ..LaunchConfig::new(specimen.grid, specimen.block, arguments)
    };
    let report = machine.launch(module, kernel, &config);
    let report = report.map_err(|error| format!("`{kernel}` is not launched: {error}"))?;
    Ok(Run { machine, report, buffers })
}
