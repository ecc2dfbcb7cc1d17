//! Searches on the command line: what they find, what is left when they are killed, and what is refused.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::compiler;
use crate::program::Bench;

fn journals(bench: &Bench) -> Vec<PathBuf> {
    let folder = bench.project().join(".lightbench/searches");
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn a_sweep_tries_what_is_declared_and_says_what_is_best() {
    let bench = Bench::new();
    if compiler::required().is_none() {
        return;
    }
    let sweep = |more: &[&str]| {
        let usual = ["sweep", "scale", "--kernel", "tuned", "--device", "virtual:h200"];
        bench.run(&[&usual, more].concat())
    };
    sweep(&["--seed", "1"]).expect(
        0,
        &[
            "sweep by local from `tuned`",
            "BLOCK=128 UNROLL=8",
            "no variants are left to try",
            "of the 3 evaluated configurations (of 3)",
            "4 evaluations",
        ],
    );
    let lines = sweep(&["--budget", "2", "--json", "--tuner", "exhaustive"]).output;
    let entries: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(entries[0]["began"]["schema"], "lightbench.search/1");
    assert!(entries.last().unwrap()["ended"].is_object());
    sweep(&["--budget", "9", "--kernel", "naive"]).expect(2, &["cannot be used multiple times"]);
}

#[test]
fn a_search_that_is_killed_goes_on_and_loses_nothing() {
    let bench = Bench::new();
    if compiler::required().is_none() {
        return;
    }
    let usual =
        ["search", "scale", "--kernel", "naive", "--device", "virtual:h200", "--budget", "6"];
    let mut child = bench.command(&usual).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(300);
    let lines = || journals(&bench).first().map_or(0, count);
    while lines() < 6 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let path = journals(&bench).remove(0);
    let before = fs::read_to_string(&path).unwrap();
    let whole = &before[..before.rfind('\n').unwrap() + 1];
    let resumed = bench.run(&["search", "scale", "--resume", "last", "--write", "found"]);
    resumed.expect(0, &["resuming search", "6 evaluations"]);
    let after = fs::read_to_string(&path).unwrap();
    assert!(after.starts_with(whole), "what was written stays");
    let is_better = resumed.output.contains("best: variant");
    assert_eq!(bench.project().join("kernels/found.cu").is_file(), is_better);
    // A project that has changed has other results.
    bench.edit("project.ron", "\"cols\": 4096", "\"cols\": 4095");
    bench.run(&["search", "scale", "--resume"]).expect(2, &["the project has changed"]);
    bench.edit("project.ron", "\"cols\": 4095", "\"cols\": 4096");
    // What somebody else wrote is not gone on from.
    fs::write(&path, after.replacen("\"virtual:h200\"", "\"virtual:t4\"", 1)).unwrap();
    bench.run(&["search", "scale", "--resume"]).expect(2, &["not written by this machine"]);
}

/// A fused layer as people write it: bias, GELU and dropout with a stored mask, one thread for each row.
const FUSED: &str = "#include <cuda_fp16.h>

__device__ float gelu(float x) {
    return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

__global__ void fused(const __half* x, const __half* bias, const unsigned char* keep, __half* y,
                      int rows, int cols, float scale) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    for (int col = 0; col < cols; col++) {
        float value = __half2float(x[row * cols + col]) + __half2float(bias[col]);
        float result = keep[row * cols + col] ? gelu(value) * scale : 0.0f;
        y[row * cols + col] = __float2half(result);
    }
}
";

const FUSED_REFERENCE: &str = "double value = (double)__half2float(x[i]) + (double)__half2float(bias[i % cols]);
    double gelu = 0.5 * value * (1.0 + tanh(0.7978845608028654 * (value + 0.044715 * value * value * value)));
    y[i] = keep[i] ? gelu * scale : 0.0;
    y_magnitude[i] = keep[i] ? fabs(value * scale) : 0.0;";

#[test]
fn a_kernel_that_a_user_brings_is_made_faster_in_words_and_without_a_gpu() {
    let bench = Bench::new();
    if compiler::required().is_none() {
        return;
    }
    fs::write(bench.path().join("fused.cu"), FUSED).unwrap();
    bench.run(&["new", "mine", "--from", "fused.cu"]).expect(0, &["wrote mine"]);
    let edit = |file: &str, old: &str, new: &str| {
        let path = bench.path().join("mine").join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(old), "{text}");
        fs::write(path, text.replace(old, new)).unwrap();
    };
    let placeholder = "static_assert(false, \"write the reference: compute every output in double here, then remove this line\");";
    edit("reference.cu", placeholder, FUSED_REFERENCE);
    edit("kernels/fused.cu", "ceil_div(rows * cols, 256)", "ceil_div(rows, 256)");
    let usual = ["search", "mine", "--kernel", "fused", "--device", "virtual:h200"];
    let found = bench.run(&[&usual[..], &["--budget", "8", "--seed", "1"]].concat());
    let in_words =
        ["a warp of `fused` shares what a thread did", "why: lanes walk along a row side by side"];
    found.expect(0, &in_words);
    let times = found.output.lines().find_map(|line| line.strip_prefix("best: variant "));
    let factor = times.and_then(|text| text.split(": ").nth(1)?.split(' ').next()?.parse().ok());
    assert!(factor.is_some_and(|factor: f64| factor > 10.0), "{}", found.output);
}

/// The lines of a journal without what says when and by whom they were written, and the header apart.
fn entries(path: &PathBuf) -> (serde_json::Value, Vec<serde_json::Value>) {
    let text = fs::read_to_string(path).unwrap();
    let line =
        |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["entry"].take();
    let mut entries: Vec<_> = text.lines().map(line).collect();
    let mut header = entries.remove(0)["began"].take();
    for own in ["id", "began_at"] {
        header.as_object_mut().unwrap().remove(own);
    }
    (header, entries)
}

#[test]
fn a_search_is_repeated_bit_for_bit_whatever_was_learnt_since() {
    let bench = Bench::new();
    if compiler::required().is_none() {
        return;
    }
    let usual =
        ["search", "scale", "--kernel", "naive", "--device", "virtual:h200", "--budget", "5"];
    bench.run(&[&usual[..], &["--seed", "11"]].concat()).expect(0, &["5 evaluations"]);
    // Each of these would be the first to try, or the last.
    let seen = |technique: &str, gain: f64| {
        format!(
            "(technique: \"{technique}\", bottleneck: \"memory\", uses: 500, failures: 0, gain: {gain})"
        )
    };
    let learnt =
        format!("(seen: [{}, {}])", seen("larger-blocks", 0.01), seen("vector-loads", 90.0));
    fs::write(bench.path().join(".local/state/lightbench/knowledge.ron"), learnt).unwrap();
    bench.run(&["search", "scale", "--like"]).expect(0, &["5 evaluations"]);
    bench.run(&[&usual[..], &["--seed", "11"]].concat()).expect(0, &["5 evaluations"]);
    let all: Vec<_> = journals(&bench).iter().map(entries).collect();
    let [first, like, fresh] = all.as_slice() else { panic!("{} journals", all.len()) };
    assert_eq!(first, like);
    assert_ne!(first.0["knowledge"], fresh.0["knowledge"], "what is in force is recorded");
    assert_eq!(first.0["seed"], fresh.0["seed"]);
    bench.run(&["search", "scale", "--like", "--seed", "3"]).expect(2, &["cannot be used with"]);
    bench.edit("project.ron", "\"cols\": 4096", "\"cols\": 4095");
    bench.run(&["search", "scale", "--like"]).expect(2, &["the project has changed"]);
}

#[test]
fn a_search_whose_models_never_answer_says_so() {
    let bench = Bench::new();
    if compiler::required().is_none() {
        return;
    }
    // Nothing listens on the discard port, and the program answers what no search can use.
    let settings = "(models: (servers: {\"gone\": (endpoint: \"http://127.0.0.1:9/v1\", model: \"m\", attempts: 1)}, \
        agents: {\"idle\": (argv: [\"/bin/echo\", \"I cannot\"])}))";
    let state = bench.path().join(".local/state/lightbench");
    fs::create_dir_all(&state).unwrap();
    fs::write(state.join("settings.ron"), settings).unwrap();
    let check = |operators: &str, status: i32, expected: &str| {
        let usual = ["search", "scale", "--kernel", "naive", "--device", "virtual:h200"];
        let more = ["--budget", "2", "--strategy", "greedy", "--operators", operators];
        bench.run(&[&usual[..], &more].concat()).expect(status, &[expected]);
    };
    check("model:gone", 3, "`model:gone` gave no usable answer to");
    if cfg!(unix) {
        check("model:idle", 0, "no variants are left to try");
        check("model:gone,model:idle", 0, "`model:gone` gave no usable answer to");
    }
}

fn count(path: &PathBuf) -> usize {
    fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

#[test]
fn what_cannot_be_searched_is_refused_with_the_reason() {
    let bench = Bench::new();
    let check = |arguments: &[&str], status: i32, expected: &str| {
        bench.run(arguments).expect(status, &[expected]);
    };
    check(&["search", "nowhere"], 2, "nowhere");
    check(&["search", "scale", "--strategy", "luck"], 2, "no strategy is called `luck`");
    check(&["sweep", "scale", "--tuner", "luck"], 2, "no tuner is called `luck`");
    check(&["search", "scale", "--workload", "small"], 2, "small");
    check(&["search", "scale", "--resume", "../../etc/passwd"], 2, "there is no search");
    check(&["search", "scale", "--resume"], 2, "there is no search");
    if compiler::required().is_none() {
        return;
    }
    check(&["search", "scale", "--operators", "rules,magic"], 2, "magic");
    check(&["search", "scale", "--kernel", "none"], 2, "none");
    bench.edit("kernels/naive.cu", "alpha * x[i]", "alpha + x[i]");
    let wrong = ["search", "scale", "--kernel", "naive", "--device", "virtual:h200"];
    check(&wrong, 1, "the kernel to begin with does not pass");
}
