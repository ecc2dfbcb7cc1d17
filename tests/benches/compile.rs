//! How long the compile path takes, from a project's folder to the program's answer.
//!
//! `cargo bench --bench compile` runs all of it. What needs a compiler is skipped with a line where none is found. The goals stand in
//! `docs/performance.md`; here they are printed, not enforced, because a busy machine is no defect.
#![expect(clippy::unwrap_used, reason = "a bench that fails to run has nothing to report")]
#![expect(clippy::print_stdout, reason = "what criterion does not measure is printed beside it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use criterion::Criterion;
use lightbench_core::cancellation::Cancellation;
use lightbench_core::compile::facts::{Facts, Setting, facts};
use lightbench_core::compile::sass::{self, CODE_ARGUMENTS};
use lightbench_core::compile::{
    Artifact, Build, CompileJob, Compiled, Compiler, CudaSource, Origin, Portability, Source,
    Target,
};
use lightbench_core::device::{ComputeCapability, DeviceSheet};
use lightbench_core::project::Project;
use lightbench_core::toolchain::{HostEnvironment, Toolchain, discover, user_cache};
use lightbench_core::worker::command::WorkerCommand;

const LIMIT: Duration = Duration::from_secs(60);
/// Calls per kernel behind the ratio: its quartiles are some percent apart with this many.
const RATIO_CALLS: usize = 60;
/// The artifact of the cache's bench has at least this many bytes of PTX, cubin and log.
const ARTIFACT_BYTES: usize = 100_000;
const SASS_LINES: usize = 5_000;
const PROGRAM: &str = env!("CARGO_BIN_EXE_lightbench");

fn main() {
    let mut criterion = Criterion::default().sample_size(30).configure_from_args();
    load_a_project(&mut criterion);
    match toolchain() {
        Some(toolchain) => {
            compile_cold(&mut criterion, &toolchain);
            find_in_the_cache(&mut criterion, &toolchain);
            read_machine_code(&mut criterion, &toolchain);
            check_a_project(&mut criterion, &toolchain);
        }
        None => println!("skipped: no CUDA compiler here; `lightbench doctor --fetch` fetches one"),
    }
    criterion.final_summary();
}

/// As the program finds it.
fn toolchain() -> Option<Toolchain> {
    let surroundings =
        HostEnvironment::from_variables(&|name| std::env::var_os(name), user_cache());
    discover(&surroundings).into_toolchain().ok()
}

fn compiler(toolchain: &Toolchain, cache: Option<PathBuf>) -> Compiler {
    Compiler::new(toolchain.clone(), WorkerCommand::new(PROGRAM, ["worker"]), cache)
}

fn rmsnorm() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-projects/rmsnorm")
}

fn load_a_project(criterion: &mut Criterion) {
    let folder = rmsnorm();
    criterion.bench_function("load rmsnorm", |bencher| {
        bencher.iter(|| Project::load(&folder).unwrap());
    });
}

/// A project's kernels as `lightbench check` compiles them.
struct Checked {
    project: Project,
    compiler: Compiler,
}

impl Checked {
    fn facts(&mut self, kernel: &str) -> Facts {
        let setting = Setting {
            project: &self.project,
            workload: self.project.workloads.first().unwrap(),
            chosen: &BTreeMap::new(),
            sheet: DeviceSheet::named("h200").unwrap(),
            multiprocessors: None,
            build: Build::Optimised,
        };
        let kernel = self.project.kernel(kernel).unwrap();
        facts(&mut self.compiler, kernel, &setting, &Cancellation::new()).unwrap()
    }

    /// All of it, and NVRTC's part.
    fn timed(&mut self, kernel: &str) -> (Duration, Duration) {
        let start = Instant::now();
        let facts = self.facts(kernel);
        let whole = start.elapsed();
        match facts.origin {
            Origin::Compiler { elapsed } => (whole, elapsed),
            Origin::Cache | Origin::Assembler => panic!("without a cache, the compiler answers"),
        }
    }
}

/// From a loaded project to facts (PTX, cubin, resources, occupancy), in a warm worker, nothing kept.
fn compile_cold(criterion: &mut Criterion, toolchain: &Toolchain) {
    let kernels = ["vector16", "naive"];
    let project = Project::load(&rmsnorm()).unwrap();
    let mut checked = Checked { project, compiler: compiler(toolchain, None) };
    for kernel in kernels {
        criterion.bench_function(&format!("compile {kernel}"), |bencher| {
            bencher.iter(|| checked.facts(kernel));
        });
    }
    let mut times = vec![Vec::new(); kernels.len()];
    for _ in 0..RATIO_CALLS {
        for (kernel, times) in kernels.into_iter().zip(&mut times) {
            times.push(checked.timed(kernel));
        }
    }
    for (kernel, times) in kernels.into_iter().zip(times) {
        let ours = median(times.iter().map(|(ours, _)| *ours));
        let theirs = median(times.iter().map(|(_, theirs)| *theirs));
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        println!(
            "compile {kernel}: ours {ours:.1?}, NVRTC's own call {theirs:.1?}, ratio {ratio:.3} (goal: at most 1.10)"
        );
    }
}

fn median(times: impl Iterator<Item = Duration>) -> Duration {
    let mut times: Vec<Duration> = times.collect();
    times.sort();
    times[times.len() / 2]
}

/// The same compile again, answered by the cache; the artifact's facts are read anew.
fn find_in_the_cache(criterion: &mut Criterion, toolchain: &Toolchain) {
    let folder = tempfile::tempdir().unwrap();
    let mut compiler = compiler(toolchain, Some(folder.path().to_owned()));
    let job = large_job();
    let first = compile(&mut compiler, &job);
    let bytes = first.artifact.ptx.len() + machine_code(&first.artifact).len();
    assert!(bytes >= ARTIFACT_BYTES, "{bytes} bytes are too few: add instances");
    let entry = fs::metadata(only_file(&folder.path().join("kernels"))).unwrap().len();
    println!("find in the cache: {} kernels, {entry} bytes", first.artifact.kernels.len());
    criterion.bench_function("find in the cache", |bencher| {
        bencher.iter(|| {
            let compiled = compile(&mut compiler, &job);
            assert_eq!(compiled.origin, Origin::Cache);
            compiled.artifact.kernels
        });
    });
}

fn compile(compiler: &mut Compiler, job: &CompileJob) -> Compiled {
    compiler.compile(job, LIMIT, &Cancellation::new()).unwrap()
}

fn machine_code(artifact: &Artifact) -> &[u8] {
    artifact.cubin.as_deref().unwrap()
}

/// One template with enough instances for an artifact of [`ARTIFACT_BYTES`].
fn large_job() -> CompileJob {
    let text = "template <int terms> __global__ void series(float* x) {\n    float sum = 0.0f;\n#pragma unroll\n    \
                for (int term = 0; term < terms; ++term) sum = sum * *x + x[term];\n    *x = sum;\n}\n";
    CompileJob {
        source: Source::Cuda(CudaSource {
            name: "series.cu".to_owned(),
            text: text.to_owned(),
            headers: lightbench_core::project::prelude::headers(&[], &[], std::iter::empty(), &[]),
            name_expressions: (8..18).map(|terms| format!("series<{}>", 4 * terms)).collect(),
            libraries: Vec::new(),
            options: Vec::new(),
        }),
        target: Target { capability: ComputeCapability(9, 0), portability: Portability::Portable },
        build: Build::Optimised,
    }
}

/// Text of the disassembler for real kernels, repeated, into instructions with their source lines.
fn read_machine_code(criterion: &mut Criterion, toolchain: &Toolchain) {
    let Some(nvdisasm) = &toolchain.nvdisasm else {
        println!("skipped: no nvdisasm here; `lightbench doctor --fetch` fetches it");
        return;
    };
    let project = Project::load(&rmsnorm()).unwrap();
    let mut checked = Checked { project, compiler: compiler(toolchain, None) };
    let cubin = tempfile::NamedTempFile::new().unwrap();
    let mut one_of_each = String::new();
    for kernel in ["naive", "warp-shuffle", "vector16", "registers"] {
        fs::write(cubin.path(), machine_code(&checked.facts(kernel).artifact)).unwrap();
        let output = Command::new(&nvdisasm.program)
            .args(CODE_ARGUMENTS)
            .arg(cubin.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        one_of_each.push_str(&String::from_utf8(output.stdout).unwrap());
    }
    let repeats = SASS_LINES.div_ceil(one_of_each.lines().count());
    let text = one_of_each.repeat(repeats);
    let functions = sass::read(&text, "");
    let instructions: usize = functions.iter().map(|function| function.instructions.len()).sum();
    println!("read SASS: {} lines, {instructions} instructions", text.lines().count());
    criterion.bench_function("read SASS", |bencher| bencher.iter(|| sass::read(&text, "")));
}

/// The built program as a user meets it: process start, project, six kernels, table.
fn check_a_project(criterion: &mut Criterion, toolchain: &Toolchain) {
    let cache = tempfile::tempdir().unwrap();
    let check = || {
        let start = Instant::now();
        let status = Command::new(PROGRAM)
            .arg("check")
            .arg(rmsnorm())
            .arg("--toolchain")
            .arg(&toolchain.nvrtc.library)
            .arg("--cache")
            .arg(cache.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success(), "{status}");
        start.elapsed()
    };
    println!("check rmsnorm, first ever (the compiler's headers are extracted): {:.2?}", check());
    criterion.bench_function("check rmsnorm, everything cached", |bencher| bencher.iter(check));
    let mut group = criterion.benchmark_group("check rmsnorm");
    group.sample_size(10).bench_function("nothing compiled before", |bencher| {
        bencher.iter_custom(|times| {
            let cold = |_| {
                fs::remove_dir_all(cache.path().join("kernels")).unwrap();
                check()
            };
            (0..times).map(cold).sum()
        });
    });
    group.finish();
}

fn only_file(folder: &Path) -> PathBuf {
    let mut path = folder.to_owned();
    while path.is_dir() {
        path = path.read_dir().unwrap().next().unwrap().unwrap().path();
    }
    path
}
