//! Static evidence in what the compiler on this machine makes of kernels.
//!
//! Each file of `tests/evidence` says in its first line what it has. Then `// candidate: …` and `// toolkit: …` name the
//! kinds of evidence that are the kernel's own and those that a header brought along, and `// launch: NAME` the kernels
//! that are launched (all where there is no such line).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use lightbench_core::cancellation::Cancellation;
use lightbench_core::compile::facts::{Setting, facts};
use lightbench_core::compile::{Build, CompileJob, Compiler};
use lightbench_core::device::{ComputeCapability, DeviceSheet};
use lightbench_core::project::manifest::Evidence;
use lightbench_core::project::{Candidate, Kernel, Project};
use lightbench_core::verify::evidence::{Found, Origin, Provenance, find, refusals};
use lightbench_core::worker::command::WorkerCommand;

use crate::compiler;
use crate::program::{repository, shared_cache};
use crate::virtual_gpu::{LIMIT, nothing_chosen};

/// The older back end and the newer one, which writes PTX in other words.
const CAPABILITIES: [ComputeCapability; 2] = [ComputeCapability(9, 0), ComputeCapability(10, 0)];

const KINDS: [(&str, Evidence); 9] = [
    ("device_globals", Evidence::DeviceGlobals),
    ("clocks", Evidence::Clocks),
    ("sleeps", Evidence::Sleeps),
    ("cache_persistence", Evidence::CachePersistence),
    ("device_launch", Evidence::DeviceLaunch),
    ("heap", Evidence::Heap),
    ("printf", Evidence::Printf),
    ("trap", Evidence::Trap),
    ("inline_assembly", Evidence::InlineAssembly),
];

#[test]
fn each_specimen_shows_what_it_says_and_whose_it_is() {
    let Some(mut compiler) = new_compiler() else { return };
    let mut wrong = Vec::new();
    let files = specimens();
    for (file, capability) in files.iter().flat_map(|file| CAPABILITIES.map(|each| (file, each))) {
        let text = fs::read_to_string(file).unwrap();
        let found = found_in(&mut compiler, file, capability);
        for (heading, whose) in [("candidate", true), ("toolkit", false)] {
            let own = found.iter().filter(|each| (each.origin == Origin::Candidate) == whose);
            let kinds: BTreeSet<Evidence> = own.map(|each| each.evidence).collect();
            let expected: BTreeSet<Evidence> =
                words(&text, heading).unwrap_or_default().iter().map(|word| kind(word)).collect();
            if kinds != expected {
                let file = file.file_name().unwrap().display();
                wrong.push(format!("{file} for {capability}: {heading} has {kinds:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_finding_leads_to_its_line() {
    let Some(mut compiler) = new_compiler() else { return };
    let mut check = |name: &str, evidence, instruction: &str, expected: &[(&str, u32)]| {
        let file = repository().join("tests/evidence").join(name);
        let found = found_in(&mut compiler, &file, CAPABILITIES[0]);
        let found = found.iter().find(|each| each.evidence == evidence).unwrap();
        assert!(found.instruction.starts_with(instruction), "{name}: {found:?}");
        let lines: Vec<_> =
            found.source.iter().map(|line| (line.file.as_str(), line.line)).collect();
        assert_eq!(lines.len(), expected.len(), "{name}: {lines:?}");
        for ((file, line), (end, number)) in lines.iter().zip(expected) {
            assert!(file.ends_with(end) && (*number == 0 || line == number), "{name}: {lines:?}");
        }
    };
    let main = |name| format!("/lightbench/{name}");
    check("clock.cu", Evidence::Clocks, "mov.u64", &[(&main("clock.cu"), 5)]);
    check("sleep.cu", Evidence::Sleeps, "nanosleep.u32", &[(&main("sleep.cu"), 6)]);
    check(
        "clock-by-header.cu",
        Evidence::Clocks,
        "mov.u64",
        &[("/cuda/__ptx/instructions/generated/get_sreg.h", 0), (&main("clock-by-header.cu"), 6)],
    );
}

#[test]
fn no_kernel_of_a_sample_project_is_refused() {
    let Some(mut compiler) = new_compiler() else { return };
    let sheet = DeviceSheet::named("h200").unwrap();
    let chosen = BTreeMap::new();
    let mut looked_at = 0;
    for project in projects() {
        let project = Project::load(&project).unwrap();
        let workload = &project.workloads[0];
        let build = Build::Optimised;
        let (project, chosen, multiprocessors) = (&project, &chosen, None);
        let setting = Setting { project, workload, chosen, sheet, multiprocessors, build };
        for kernel in project.kernels.iter().chain(project.reference.kernel()) {
            let facts = facts(&mut compiler, kernel, &setting, &Cancellation::new()).unwrap();
            let launched = facts.launches.iter().map(|launch| launch.kernel.symbol.as_str());
            let entries: Vec<&str> = launched.collect();
            assert!(!entries.is_empty(), "{} launches something", kernel.name);
            let provenance = Provenance::from_candidate(&facts.candidate);
            let found = find(&facts.artifact.ptx, &entries, &provenance).unwrap();
            let refused: Vec<_> = refusals(&found, &project.definition.policy).collect();
            assert!(refused.is_empty(), "{}: {refused:?}", kernel.file.display());
            looked_at += 1;
        }
    }
    assert!(looked_at >= 20, "{looked_at} kernels");
}

fn new_compiler() -> Option<Compiler> {
    let found = compiler::required()?;
    let command = WorkerCommand::new(env!("CARGO_BIN_EXE_lightbench"), ["worker"]);
    Some(Compiler::new(found.toolchain.clone(), command, Some(shared_cache().to_owned())))
}

fn found_in(compiler: &mut Compiler, file: &Path, capability: ComputeCapability) -> Vec<Found> {
    let kernel = Kernel::load_standalone(file).unwrap();
    let candidate = Candidate::standalone(&kernel, nothing_chosen()).unwrap();
    let job = CompileJob::new(&candidate, capability, Build::Optimised);
    let compiled = compiler.compile(&job, LIMIT, &Cancellation::new());
    let artifact = compiled.unwrap_or_else(|error| panic!("{}: {error}", kernel.name)).artifact;
    let launched = words(&kernel.source, "launch");
    let all = || artifact.kernels.iter().map(|kernel| kernel.symbol.as_str()).collect();
    let entries: Vec<&str> = launched.unwrap_or_else(all);
    find(&artifact.ptx, &entries, &Provenance::from_candidate(&candidate))
        .unwrap_or_else(|error| panic!("{}: {error}", kernel.name))
}

/// The words behind `// heading:`.
fn words<'a>(text: &'a str, heading: &str) -> Option<Vec<&'a str>> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("// ")?.strip_prefix(heading)?.strip_prefix(':'))?;
    Some(line.split_whitespace().collect())
}

fn kind(word: &str) -> Evidence {
    let known = KINDS.iter().find(|(name, _)| *name == word);
    known.unwrap_or_else(|| panic!("`{word}` is no kind of evidence")).1
}

fn specimens() -> Vec<PathBuf> {
    let entries = fs::read_dir(repository().join("tests/evidence")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 20, "{} specimens", files.len());
    files
}

fn projects() -> Vec<PathBuf> {
    let entries = fs::read_dir(repository().join("sample-projects")).unwrap();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    folders.retain(|folder| folder.join("project.ron").is_file());
    folders.sort();
    folders
}
