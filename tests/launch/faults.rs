//! Faults end with status 1 and say where.

use super::*;

#[test]
fn an_access_beyond_the_end_is_shown_at_its_line() {
    if compiler::required().is_none() {
        return;
    }
    let bench = bench();
    let line = "add.cu --grid 2 --block 32 --arg in:f32[64]=iota --arg buf:f32[40] --arg i32:64";
    launch(&bench, line).expect(
        1,
        &[
            "error[out_of_bounds]",
            "--> add.cu:4:",
            "`y`",
            "block (1, 0, 0), thread (8, 0, 0)",
            "1 fault",
        ],
    );
    let said = launch(&bench, &format!("{line} --json"));
    assert_eq!(said.status, 1);
    let document = said.json();
    assert_eq!(document["schema"], "lightbench.launch/1");
    let fault = &document["faults"][0];
    assert_eq!(fault["kind"], "out_of_bounds");
    assert_eq!(fault["kernel"], "add");
    assert_eq!(fault["block"], serde_json::json!([1, 0, 0]));
    assert_eq!(fault["thread"], serde_json::json!([8, 0, 0]));
    assert_eq!(fault["file"], "add.cu");
    assert_eq!(fault["line"], 4);
    assert_eq!(fault["buffer"], "y");
    assert!(fault["ptx_line"].as_u64().unwrap() > 0);
    assert!(fault["address"].as_str().unwrap().starts_with("0x"));
    assert!(fault["other"].is_null());
}

/// Arguments behind `add.cu --grid 1 --block 4`, and the kind of the fault.
const KINDS: &[(&str, &str)] = &[
    ("--arg buf:f32[4] --arg buf:f32[4] --arg i32:4", "uninitialized_read"),
    ("--arg in:f32[4]=ones --arg in:f32[4]=ones --arg i32:4", "read_only_write"),
    ("--arg in:f32[4]=ones --arg buf:f32[4] --arg i32:4 --max-steps 2", "step_limit"),
];

#[test]
fn each_rule_has_its_word() {
    if compiler::required().is_none() {
        return;
    }
    let bench = bench();
    for (line, kind) in KINDS {
        let said = launch(&bench, &format!("add.cu --grid 1 --block 4 {line} --json"));
        assert_eq!(said.status, 1, "{line}\n{}", said.everything());
        assert_eq!(said.json()["faults"][0]["kind"], *kind, "{line}");
    }
}

#[test]
fn without_checks_only_bounds_and_rights_are_looked_at() {
    if compiler::required().is_none() {
        return;
    }
    let bench = bench();
    let line = "add.cu --grid 1 --block 4 --arg buf:f32[4] --arg buf:f32[4] --arg i32:4";
    launch(&bench, &format!("{line} --checks none")).expect(0, &["no fault"]);
    launch(&bench, &format!("{line} --checks memory")).expect(1, &["uninitialized_read"]);
    let beyond = "add.cu --grid 1 --block 4 --arg in:f32[2]=ones --arg buf:f32[4] --arg i32:4";
    launch(&bench, &format!("{beyond} --checks none")).expect(1, &["out_of_bounds"]);
}

#[test]
fn a_fault_of_ptx_is_shown_in_the_ptx() {
    let bench = bench();
    let line = "copy.ptx --grid 1 --block 8 --arg in:u32[4]=iota --arg buf:u32[8]";
    launch(&bench, line).expect(1, &["error[out_of_bounds]", "--> copy.ptx:13", "ld.global.u32"]);
}

/// Texts whose `#line` directives count otherwise than they stand, and how the fault in their last line is shown.
const COUNTED: &[(&str, &[&str])] = &[
    (
        "#line 100 \"other.cu\"\nextern \"C\" __global__ void k(int* out) {\n    out[threadIdx.x] = 1;\n}\n",
        &["--> counted.cu:3:", "out[threadIdx.x] = 1;"],
    ),
    (
        "#line 2\nextern \"C\" __global__ void k(int* out) {\n    int filler = 1;\n    out[threadIdx.x] = filler;\n}\n",
        &["--> counted.cu:4:", "out[threadIdx.x] = filler;"],
    ),
    (
        "#line 1 \"x.cu\"\n#line 1 \"x.cu\"\nextern \"C\" __global__ void k(int* out) {\n#line 1 \"x.cu\"\n\n    out[threadIdx.x] = 1;\n}\n",
        &["x.cu (as `#line` counts):2"],
    ),
];

#[test]
fn a_fault_is_shown_where_it_stands_however_lines_are_counted() {
    if compiler::required().is_none() {
        return;
    }
    let bench = bench();
    for (text, says) in COUNTED {
        fs::write(bench.path().join("counted.cu"), text).unwrap();
        let expected: Vec<&str> = ["error[out_of_bounds]"].iter().chain(*says).copied().collect();
        launch(&bench, "counted.cu --grid 1 --block 32 --arg buf:i32[4]").expect(1, &expected);
    }
}

/// A kernel that stores to constant memory, and what is said of it.
const CONSTANT_STORE: &str = "__constant__ int limits[4];\n\
    extern \"C\" __global__ void k(int* out) {\n    limits[threadIdx.x & 3] = 5;\n    out[threadIdx.x] = 1;\n}\n";

#[test]
fn a_store_to_constant_memory_is_named_at_its_line() {
    if compiler::required().is_none() {
        return;
    }
    let bench = bench();
    fs::write(bench.path().join("constant.cu"), CONSTANT_STORE).unwrap();
    launch(&bench, "constant.cu --grid 1 --block 32 --arg buf:i32[32]").expect(
        1,
        &["error[read_only_write]", "--> constant.cu:3", "a store to constant memory (line 3)"],
    );
}

/// Lane 0 waits for a flag, the other lanes for lane 0.
const SPIN: &str = "extern \"C\" __global__ void k(volatile int* flag, int* out) {\n\
    if (threadIdx.x == 0) {\n        while (*flag == 0) {}\n    }\n    __syncthreads();\n\
    out[threadIdx.x] = 1;\n}\n";

#[test]
fn a_launch_without_progress_ends_at_once_with_the_lines_of_its_warps_and_prints_its_limits() {
    if compiler::required().is_none() {
        return;
    }
    let bench = bench();
    fs::write(bench.path().join("spin.cu"), SPIN).unwrap();
    let line = "spin.cu --grid 2 --block 64 --arg buf:i32[1]=zeros --arg buf:i32[64]";
    launch(&bench, line).expect(
        1,
        &[
            "limits: 4294967296 steps, 60 s",
            "error[livelock]",
            "spin.cu:3",
            "spin.cu:5",
            "waiting at barrier 0: 4 warps",
        ],
    );
}

#[test]
fn the_strict_mode_reports_what_the_idiom_accepts() {
    if compiler::required().is_none() {
        return;
    }
    let bench = bench();
    let text = "extern \"C\" __global__ void k(int* out, int n) {\n    int i = threadIdx.x;\n\
        if (i >= n) return;\n    __syncthreads();\n    out[i] = 1;\n}\n";
    fs::write(bench.path().join("exits.cu"), text).unwrap();
    let line = "exits.cu --grid 1 --block 64 --arg buf:i32[64] --arg i32:40";
    launch(&bench, line).expect(0, &["rule 26) at line 4", "no fault"]);
    launch(&bench, &format!("{line} --checks strict")).expect(1, &["error[barrier_divergence]"]);
}

#[test]
fn pointers_are_null_or_those_of_earlier_arguments() {
    if compiler::required().is_none() {
        return;
    }
    let bench = bench();
    let text = "extern \"C\" __global__ void k(const float* a, float* b, const int* c) {\n\
        if (c == nullptr) b[threadIdx.x] = a[threadIdx.x] + 1;\n}\n";
    fs::write(bench.path().join("pointers.cu"), text).unwrap();
    let line = "pointers.cu --grid 1 --block 4 --arg buf:f32[4]=iota --arg same:0 --print 1 --arg";
    launch(&bench, &format!("{line} null")).expect(0, &["--print 1", "4.0", "no fault"]);
    launch(&bench, &format!("{line} same:7")).expect(2, &["argument 2 is `same:7`"]);
}
