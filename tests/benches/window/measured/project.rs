//! A project with a long history: RMSNorm, and a kernel of two thousand lines.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use lightbench::session::Session;
use lightbench_core::history::location::HistoryLocation;
use lightbench_core::history::machine::Machine;
use lightbench_core::history::text::Texts;
use lightbench_core::history::{IntegrityCheck, RunRecord, Store, open};
use lightbench_core::toolchain::{HostEnvironment, user_cache};
use serde_json::{Value, json};

/// Lines of the long kernel.
const LINES: usize = 2_000;
/// The long kernel, below the project.
pub(crate) const LONG: &str = "kernels/long.cu";

const KERNELS: [&str; 5] = ["naive", "shared-tree", "warp-shuffle", "vector16", "registers"];
const WORKLOADS: [&str; 3] = ["llama-70b-prefill", "llama-8b-decode", "gpt-oss-prefill"];

/// A project on disk, and the state folder of who works on it.
pub(crate) struct Ground {
    pub(crate) project: PathBuf,
    pub(crate) state: PathBuf,
}

impl Ground {
    /// The project with so many runs, made once and kept among what is built.
    pub(crate) fn with_runs(count: usize) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("window-{count}"));
        let ground = Self { project: folder.join("project"), state: folder.join("state") };
        let complete = folder.join("complete");
        if !complete.is_file() {
            fs::remove_dir_all(&folder).ok();
            let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-projects/rmsnorm");
            copy(&sample, &ground.project);
            let naive = fs::read_to_string(ground.project.join("kernels/naive.cu")).unwrap();
            fs::write(ground.project.join(LONG), long(&naive)).unwrap();
            fs::create_dir_all(&ground.state).unwrap();
            fill(&ground, count);
            fs::write(complete, "").unwrap();
        }
        ground
    }

    /// A session in these places, with the compiler that the program would find.
    pub(crate) fn session(&self) -> Session {
        let variable = |name: &str| std::env::var_os(name);
        let surroundings = HostEnvironment::from_variables(&variable, user_cache());
        Session { state: Some(self.state.clone()), ..Session::new(surroundings) }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    let entries = fs::read_dir(from).unwrap().map(Result::unwrap);
    for entry in entries.filter(|entry| entry.file_name() != ".lightbench") {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A kernel behind which device functions follow that nobody calls.
fn long(kernel: &str) -> String {
    let mut text = kernel.to_owned();
    let mut number = 0;
    while text.lines().count() + 8 <= LINES {
        write!(
            text,
            "\n// Step {number} of a long story: 0x{number:04x}.\n\
             __device__ __forceinline__ float step{number}(const float* __restrict__ values, int count) {{\n    \
             float sum = {number}.5f;\n    \
             for (int at = threadIdx.x; at < count; at += blockDim.x) {{\n        \
             sum = fmaf(values[at], __expf(sum), 1.0e-{}f); /* no \"end\" in sight */\n    }}\n    \
             return sum + __shfl_xor_sync(0xffffffffu, sum, {});\n}}\n",
            number % 30 + 1,
            1 << (number % 5),
        )
        .unwrap();
        number += 1;
    }
    text
}

fn fill(ground: &Ground, count: usize) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/history/run.json");
    let template: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let place = HistoryLocation::for_writing(&ground.project, Some(&ground.state)).unwrap();
    let machine = Machine::open(&ground.state).unwrap();
    let mut store: Store = open(&place, &machine, IntegrityCheck::None).unwrap().store;
    for index in 0..count {
        let record = run(&template, index, count);
        store.append(&record, &Texts::default()).unwrap();
    }
}

/// The run of that index: one in four is wrong, the others have three times with their bounds.
fn run(template: &Value, index: usize, count: usize) -> RunRecord {
    let mut document = template.clone();
    // The same kernel three times, then another one.
    let kernel = KERNELS[index / 3 % KERNELS.len()];
    let hash = blake3::hash(&(index / 2).to_le_bytes());
    document["id"] = format!("{index:032x}").into();
    document["kernel"] = kernel.into();
    document["candidate"] = hash.to_hex().as_str().into();
    document["device"]["name"] = "virtual:h200".into();
    document["workloads"] = WORKLOADS
        .map(|name| json!({ "name": name, "axes": { "rows": 64, "cols": 4096 }, "scalars": { "eps": 0.00001 } }))
        .into();
    if index.is_multiple_of(4) {
        document["outcome"] = json!({
            "verdict": "failed", "word": "wrong", "sentence": format!("`{kernel}` is wrong: {index} of 8192 elements of `y`"),
            "evidence": { "kind": "numeric", "workload": WORKLOADS[0], "outputs": [] },
        });
    } else {
        let timing = document["outcome"]["timings"][0].clone();
        document["outcome"]["timings"] = WORKLOADS
            .map(|workload| {
                let mut timing = timing.clone();
                let median = 1e-4 * (1.0 + (index * 7919 % count) as f64 / count as f64);
                timing["workload"] = workload.into();
                timing["clock"] = json!({ "kind": "modelled" });
                timing["median"] = median.into();
                timing["standing"] = json!({
                    "bound": 7e-5, "fraction": 7e-5 / median, "limiter": "DRAM", "peaks": "sheet",
                });
                timing
            })
            .to_vec()
            .into();
    }
    serde_json::from_value(document).unwrap()
}
