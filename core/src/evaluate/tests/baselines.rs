//! Libraries as baselines of a candidate, on a fake GPU.

use std::path::PathBuf;

use super::*;
use crate::compile::Compiler;
use crate::evaluate::compare::{Compared, ComparedWorkload, LoadedPair, Outcome};
use crate::measure::timing::{Basis, Clock, Mode, Timing};
use crate::measure::{Conclusion, Stopped};
use crate::project::definition::Summation;
use crate::project::policy::Baseline;
use crate::toolchain::{Cutlass, Headers, Libraries, Nvrtc, Source, Toolchain, Version};
use crate::verify::baseline::{BaselineOutcome, BaselineTiming};
use crate::verify::verdict::{Checks, Uncounted};

const PRODUCT: &str = r#"(
    schema: 1, name: "product", title: "A product", summary: "c = a b.",
    axes: [(name: "m", min: 1, max: 64), (name: "n", min: 1, max: 64), (name: "k", min: 8, max: 64)],
    tensors: [
        (name: "a", dtype: f32, shape: ["m", "k"], role: input, fill: normal(mean: 0, std: 1), domain: finite),
        (name: "b", dtype: f32, shape: ["k", "n"], role: input, fill: normal(mean: 0, std: 1), domain: finite),
        (name: "c", dtype: f32, shape: ["m", "n"], role: output, compare: elementwise(terms: "k")),
    ],
    arguments: ["a", "b", "c", "m: i32", "n: i32", "k: i32"],
    accuracy: f32,
    work: (operations: [(kind: contraction, count: "2 * m * n * k")]),
    workloads: [
        (name: "small", purpose: verify, axes: {"m": 7, "n": 5, "k": 9}),
        (name: "large", purpose: measure, axes: {"m": 32, "n": 32, "k": 32}),
    ],
    baselines: [
        library(cublas_gemm(a: "a", b: "b", c: "c")), pytorch("torch.py"),
        recorded(name: "torch", device: "h200", workload: "large", seconds: 0.001, source: "somebody"),
        recorded(name: "too good", device: "h200", workload: "large", seconds: 1e-12, source: "somebody"),
        recorded(name: "of another device", device: "a100", workload: "large", seconds: 0.001, source: "somebody"),
    ],
)"#;

const SOURCE: &str = r#"/*@ lightbench(title: "Product", steps: [launch(kernel: "k",
    args: ["a", "b", "c", "m: i32", "n: i32", "k: i32"], grid: ["m"], block: ["n"])]) @*/
__global__ void k(const float* a, const float* b, float* c, int m, int n, int k) {}
"#;

/// One thread for each element: its sum, and the sum of magnitudes.
const REFERENCE: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 ps, .param .u32 pn, .param .u32 pk)
{
    .reg .pred %p<2>; .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .f32 %f<3>; .reg .f64 %d<7>;
    ld.param.u64 %rd1, [pa];
    ld.param.u64 %rd2, [pb];
    ld.param.u64 %rd3, [pc];
    ld.param.u64 %rd4, [ps];
    ld.param.u32 %r2, [pn];
    ld.param.u32 %r3, [pk];
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %tid.x;
    mov.f64 %d1, 0d0000000000000000;
    mov.f64 %d2, 0d0000000000000000;
    mov.u32 %r6, 0;
LOOP:
    mad.lo.u32 %r7, %r4, %r3, %r6;
    mul.wide.u32 %rd5, %r7, 4;
    add.u64 %rd5, %rd1, %rd5;
    ld.global.f32 %f1, [%rd5];
    mad.lo.u32 %r8, %r6, %r2, %r5;
    mul.wide.u32 %rd6, %r8, 4;
    add.u64 %rd6, %rd2, %rd6;
    ld.global.f32 %f2, [%rd6];
    cvt.f64.f32 %d3, %f1;
    cvt.f64.f32 %d4, %f2;
    mul.rn.f64 %d5, %d3, %d4;
    add.rn.f64 %d1, %d1, %d5;
    abs.f64 %d6, %d5;
    add.rn.f64 %d2, %d2, %d6;
    add.u32 %r6, %r6, 1;
    setp.lt.u32 %p1, %r6, %r3;
    @%p1 bra LOOP;
    mad.lo.u32 %r9, %r4, %r2, %r5;
    mul.wide.u32 %rd7, %r9, 8;
    add.u64 %rd8, %rd3, %rd7;
    st.global.f64 [%rd8], %d1;
    add.u64 %rd9, %rd4, %rd7;
    st.global.f64 [%rd9], %d2;
    ret;
}
";

fn product(folder: &Path) -> Box<Project> {
    std::fs::create_dir(folder.join("kernels")).unwrap();
    std::fs::write(folder.join("project.ron"), PRODUCT).unwrap();
    let reference = SOURCE.replace("\"c\",", "\"c\", \"c.magnitude\",");
    let torch = "def reference(a, b):\n    return a @ b\n";
    for (file, source) in
        [("reference.cu", reference.as_str()), ("kernels/k.cu", SOURCE), ("torch.py", torch)]
    {
        std::fs::write(folder.join(file), source).unwrap();
    }
    Box::new(Project::load(folder).unwrap())
}

fn trial(project: &Project, name: &str) -> CompiledWorkload {
    let case = Case::new(&project.definition, project.workload(name).unwrap()).unwrap();
    let [m, n, k] = [case.tensors[2].dims[0], case.tensors[2].dims[1], case.tensors[0].dims[1]]
        .map(|size| u32::try_from(size).unwrap());
    let mut arguments: Vec<ArgumentCase> =
        (0..3).map(|tensor| ArgumentCase::Buffer(Buffer::Tensor(tensor))).collect();
    arguments.push(ArgumentCase::Buffer(Buffer::Magnitude(2)));
    arguments.extend([n, k].map(|size| ArgumentCase::Bytes(size.to_le_bytes().to_vec())));
    let launch = LaunchStep {
        kernel: "k".to_owned(),
        grid: [m, 1, 1],
        block: [n, 1, 1],
        dynamic_shared: 0,
        cooperative: false,
        cluster: None,
        residence: None,
        arguments,
    };
    let (scratch, constants) = (Vec::new(), Vec::new());
    let reference =
        Program { module: 0, scratch, constants, steps: vec![ProgramStep::Launch(launch)] };
    CompiledWorkload {
        work: 1.0,
        adds_and_multiplies: true,
        extent: Extent::Small,
        admission: None,
        as_written: None,
        summation: Summation::Any,
        // Nobody runs it here.
        candidate: reference.clone(),
        reference: ReferenceSource::Program(reference),
        launches: Vec::new(),
        code: CodeMix::default(),
        case,
    }
}

/// No compiler that anybody starts.
fn compiler(command: &WorkerCommand) -> Compiler {
    let nvrtc = Nvrtc {
        library: PathBuf::new(),
        builtins: PathBuf::new(),
        version: Version::new(13, 0),
        source: Source::Explicit,
    };
    let toolchain = Toolchain {
        nvrtc,
        headers: Headers::Bundled,
        nvdisasm: None,
        cuobjdump: None,
        ptxas: None,
        cutlass: Cutlass::NotInstalled,
    };
    Compiler::new(toolchain, command.clone(), None)
}

fn measured(time: Seconds) -> Timing {
    let clock = Clock::Events { offset: Seconds(1e-9), floor: Seconds(1e-9), without: None };
    let rounds = vec![vec![time; 5]; 10];
    Timing::measured(clock, Mode::Cold, rounds, (1, Stopped::Budget), &[]).unwrap()
}

/// A kernel that does nothing: for devices that only pass for timing it.
const IDLE: &str = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry idle() { ret; }";

/// A project with a product, a device that takes so long for each kernel, and a library of that kind.
struct Scene {
    project: Box<Project>,
    device: DeviceName,
    subject: CompiledCandidate,
    bench: EvaluationContext,
    chosen: BTreeMap<String, i64>,
}

impl Scene {
    fn new(library: &str, seconds: f64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = product(folder.path());
        let readings = Readings::new(Seconds(seconds), Seconds(1e-9));
        let (command, device) = (command(readings), DeviceName::parse("cuda:0").unwrap());
        let subject = CompiledCandidate {
            candidate: Vec::new(),
            preceding_modules: 0,
            origins: Vec::new(),
            reference: CompiledReference::Modules(vec![image(REFERENCE.to_owned())]),
            harness_kernels: None,
            workloads: vec![trial(&project, "small")],
            varied: Vec::new(),
            on_few_multiprocessors: Vec::new(),
            not_varied: Vec::new(),
            large_indices: None,
            measured: vec![trial(&project, "large")],
            held_out: Vec::new(),
            not_run: Vec::new(),
            evidence: Vec::new(),
            limits: project.definition.limits,
            block_order: project.definition.block_order,
        };
        let workers = DeviceWorkers::new(&command, &device, None).unwrap();
        let libraries = Libraries { cublas: vec![PathBuf::from(library)], cupti: Vec::new() };
        let bench = EvaluationContext::new(compiler(&command), workers, libraries);
        Self { project, device, subject, bench, chosen: BTreeMap::new() }
    }

    /// The order, with the rest of the scene apart from it.
    fn parts(&mut self) -> (Evaluation<'_>, &CompiledCandidate, &mut EvaluationContext) {
        let longest = Duration::from_millis(1);
        let evaluation = Evaluation {
            project: &self.project,
            kernel: self.project.kernel("k").unwrap(),
            chosen: &self.chosen,
            device: &self.device,
            sheet: sheet(),
            calibration: None,
            workload: None,
            seed: 1,
            policy: PolicyUse::Refuse,
            timing: TimingUse::Measure(Protocol { longest, ..Protocol::QUICK }),
        };
        (evaluation, &self.subject, &mut self.bench)
    }
}

/// What is said of a candidate that takes so long, beside a library of that kind.
fn beside(library: &str, seconds: f64) -> WorkloadTiming {
    let mut scene = Scene::new(library, seconds);
    let (evaluation, subject, bench) = scene.parts();
    let timed = || WorkloadTiming {
        workload: "large".to_owned(),
        timings: vec![measured(Seconds(seconds))],
        withheld: None,
        check: SizeCheck::Whole,
        profile: Err(Uncounted::NoVirtualDevice),
        energy: None,
        standing: None,
        baselines: Vec::new(),
    };
    let mut passed = Passed { checks: Checks::default(), timings: vec![timed()] };
    let cancellation = Cancellation::new();
    let mut asked = 0;
    for _ in 0..2 {
        passed.timings = vec![timed()];
        let watcher: Watcher<'_> = &mut |_, _| asked += 1;
        let told = (&cancellation, watcher);
        crate::evaluate::baselines::add(&evaluation, subject, bench, told, &mut passed).unwrap();
        performance_analysis::analyse_performance(&evaluation, subject, &mut passed);
    }
    // One that is there has three steps at least, and is asked once.
    assert!(asked < 10, "{asked}");
    passed.timings.remove(0)
}

/// A kernel held against a library of that kind, side by side.
fn side_by_side(library: &str, mode: Mode) -> Compared {
    let mut scene = Scene::new(library, 1e-5);
    scene.subject.candidate.push(image(IDLE.to_owned()));
    for trial in scene.subject.workloads.iter_mut().chain(&mut scene.subject.measured) {
        trial.candidate.steps.truncate(1);
        for step in &mut trial.candidate.steps {
            if let ProgramStep::Launch(launch) = step {
                launch.kernel = "idle".to_owned();
                launch.arguments.clear();
            }
        }
    }
    let (evaluation, subject, bench) = scene.parts();
    let Baseline::CublasGemm(gemm) = &evaluation.project.definition.baselines[0] else {
        panic!("the first baseline is cuBLAS");
    };
    let cancellation = Cancellation::new();
    let (mut first, mut second) = (|_: Step, _: Option<&str>| {}, |_: Step, _: Option<&str>| {});
    let told: (_, Watcher<'_>) = (&cancellation, &mut first);
    let loaded = LoadedPair::with_library((&evaluation, subject), gemm, bench, told).unwrap();
    let conditions = (mode, Protocol { longest: Duration::ZERO, ..Protocol::PAIRED }, 1);
    loaded.timed(&evaluation, conditions, bench, (&cancellation, &mut second)).unwrap()
}

fn named<'a>(timed: &'a WorkloadTiming, name: &str) -> Option<&'a BaselineOutcome> {
    let found = timed.baselines.iter().find(|baseline| baseline.name == name);
    found.map(|BaselineTiming { outcome, .. }| outcome)
}

/// Why a baseline has no time.
fn reason(timed: &WorkloadTiming, name: &str) -> String {
    match named(timed, name).unwrap() {
        BaselineOutcome::None(reason) => reason.clone(),
        found @ (BaselineOutcome::Measured(_) | BaselineOutcome::Recorded { .. }) => {
            panic!("{found:?}")
        }
    }
}

#[test]
fn a_library_is_verified_timed_and_scored_against() {
    let timed = beside("honest", 1e-5);
    let measured = timed.baselines.iter().find_map(BaselineTiming::measured).unwrap();
    assert_eq!(measured.title(), "cuBLAS 1.2.3");
    assert_eq!(measured.used.call, "cublasGemmEx with CUBLAS_COMPUTE_32F, which permits no TF32");
    assert_eq!(measured.timings.len(), 2, "cold and warm");
    assert!((measured.cold().unwrap().summary.median.0 - 2.5e-6).abs() < 1e-12);
    let score = measured.score.unwrap().unwrap().value();
    assert!(score > 0.1 && score < 0.25, "four times as slow as the baseline: {score}");
    let line = timed.standing.as_ref().unwrap().line.clone();
    assert!(line.contains("4.0 times as slow as cuBLAS"), "{line}");
}

#[test]
fn a_library_that_is_not_there_is_a_sentence() {
    let timed = beside("absent", 1e-5);
    let reason = reason(&timed, "cuBLAS");
    assert!(reason.starts_with("cuBLAS is missing (absent); it comes with"), "{reason}");
    assert!(timed.standing.is_some(), "the candidate stands without it");
}

#[test]
fn a_library_that_narrows_factors_has_no_time() {
    let timed = beside("narrow", 1e-5);
    let reason = reason(&timed, "cuBLAS");
    assert!(reason.starts_with("it is not precise enough"), "{reason}");
}

#[test]
fn a_baseline_below_the_bound_is_a_finding_and_no_time() {
    // The kernel stays above its bound, the library takes a quarter of that.
    let bound = beside("absent", 1e-5).standing.unwrap().bound.unwrap().time;
    let timed = beside("honest", 2.0 * bound.0);
    let finding = reason(&timed, "cuBLAS");
    assert!(finding.contains("not a valid time"), "{finding}");
    assert!(timed.standing.as_ref().unwrap().standing.as_ref().unwrap().is_ok());
    let line = timed.standing.as_ref().unwrap().line.clone();
    assert!(!line.contains("cuBLAS"), "{line}");
}

#[test]
fn what_others_say_is_quoted_where_it_is_of_this_device_and_possible() {
    let timed = beside("absent", 1e-5);
    let quoted = named(&timed, "torch").unwrap();
    let source = "somebody".to_owned();
    assert_eq!(*quoted, BaselineOutcome::Recorded { seconds: Seconds(1e-3), source });
    assert!(reason(&timed, "too good").contains("not a valid time"));
    assert_eq!(named(&timed, "of another device"), None);
}

#[test]
fn a_function_of_pytorch_has_no_time_without_python() {
    let timed = beside("absent", 1e-5);
    let reason = reason(&timed, "PyTorch (torch.py)");
    assert!(reason.contains("Python"), "{reason}");
    assert!(timed.standing.is_some(), "the candidate stands without it");
}

#[test]
fn a_library_is_timed_beside_a_kernel_in_every_mode() {
    for mode in [Mode::Cold, Mode::Warm, Mode::Graph, Mode::Server] {
        let Compared { library, workloads } = side_by_side("honest", mode);
        let times = library.unwrap().unwrap();
        assert_eq!(times.used.unwrap().version, "1.2.3");
        assert!(times.workloads.is_empty(), "it is timed beside the kernel, not alone");
        let [ComparedWorkload { workload, bounds, outcome }] = workloads.as_slice() else {
            panic!("{workloads:?}")
        };
        assert_eq!(workload, "large");
        assert!(!bounds.is_empty(), "the bound is the task's");
        let Outcome::Measured { timings, comparison } = outcome else { panic!("{outcome:?}") };
        assert_eq!((timings[0].mode, timings[1].mode), (mode, mode));
        assert_eq!(comparison.conclusion, Conclusion::Faster, "{comparison:?}");
        assert!((comparison.ratio.0 - 0.25).abs() < 1e-9, "{comparison:?}");
    }
}

#[test]
fn a_graph_sample_has_as_many_replays_as_suit_each_of_two() {
    let Compared { workloads, .. } = side_by_side("honest", Mode::Graph);
    let Outcome::Measured { timings, .. } = &workloads[0].outcome else { panic!("{workloads:?}") };
    let batches = timings.each_ref().map(|timing| match &timing.basis {
        Basis::Samples { batch, .. } => *batch,
        Basis::Model { .. } => 0,
    });
    // 200 µs of 10 µs each, and of 2.5 µs.
    assert_eq!(batches, [20, 80]);
}

#[test]
fn what_is_no_library_here_is_held_against_nothing() {
    let check = |library: &str, expected: &str| {
        let Compared { library, workloads } = side_by_side(library, Mode::Cold);
        assert!(workloads.is_empty(), "{workloads:?}");
        let unfit = library.unwrap().unwrap_err();
        assert!(unfit.to_string().starts_with(expected), "{unfit}");
        unfit
    };
    assert!(matches!(check("absent", "cuBLAS is missing"), LibraryUnusable::Unusable(_)));
    assert!(matches!(check("narrow", "it is not precise enough"), LibraryUnusable::Wrong(_)));
}
