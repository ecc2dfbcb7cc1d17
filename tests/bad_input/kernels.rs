//! Launch blocks and kernels that do not fit each other, or the project.

use super::*;

const NAIVE_FILE: &str = "kernels/naive.cu";
const TUNED_FILE: &str = "kernels/tuned.cu";

const LAUNCHES: &[Case] = &[
    Case {
        name: "a typo in a launch block",
        change: |bench| bench.edit(NAIVE_FILE, "steps:", "stpes:"),
        arguments: NAIVE,
        status: 1,
        says: &["--> scale/kernels/naive.cu:3:5", "unknown field `stpes`", "write `steps`"],
    },
    Case {
        name: "a typo in a launch",
        change: |bench| bench.edit(NAIVE_FILE, "grid:", "gird:"),
        arguments: NAIVE,
        status: 1,
        says: &["--> scale/kernels/naive.cu:3:37", "unknown field `gird`", "write `grid`"],
    },
    Case {
        name: "a block of another name",
        change: |bench| bench.edit(NAIVE_FILE, "lightbench(", "lightbeach("),
        arguments: NAIVE,
        status: 1,
        says: &[
            "--> scale/kernels/naive.cu:1:5",
            "unknown block `lightbeach`",
            "write `lightbench`",
        ],
    },
    Case {
        name: "a block that is not closed",
        change: |bench| bench.edit(NAIVE_FILE, ") @*/", ")"),
        arguments: NAIVE,
        status: 1,
        says: &["--> scale/kernels/naive.cu:1:1", "not closed", "expected `) @*/`"],
    },
    Case {
        name: "two blocks",
        change: |bench| {
            let text = fs::read_to_string(bench.project().join(NAIVE_FILE)).unwrap();
            bench.write(NAIVE_FILE, format!("{text}{text}"));
        },
        arguments: NAIVE,
        status: 1,
        says: &["--> scale/kernels/naive.cu:13:5", "a second launch block"],
    },
    Case {
        name: "an argument order naming an unknown tensor",
        change: |bench| bench.edit(NAIVE_FILE, "grid:", "args: [\"x\", \"z\"], grid:"),
        arguments: NAIVE,
        status: 1,
        says: &[
            "--> scale/kernels/naive.cu:3:49",
            "unknown argument `z`",
            "x, y, rows * cols, alpha",
        ],
    },
    Case {
        name: "an unknown axis in a grid",
        change: |bench| bench.edit(NAIVE_FILE, "rows * cols, 256", "rows * colz, 256"),
        arguments: NAIVE,
        status: 1,
        says: &["--> scale/kernels/naive.cu:3:61", "unknown name `colz`", "write `cols`"],
    },
    Case {
        name: "a block of more threads than there are",
        change: |bench| bench.edit(NAIVE_FILE, "block: [256]", "block: [1025]"),
        arguments: NAIVE,
        status: 1,
        says: &["--> scale/kernels/naive.cu:3:", "1025", "1024"],
    },
    Case {
        name: "a grid of 0 blocks",
        change: |bench| bench.edit(NAIVE_FILE, "ceil_div(rows * cols, 256)", "rows // 1000000"),
        arguments: NAIVE,
        status: 1,
        says: &["--> scale/kernels/naive.cu:3:", "workload `odd`"],
    },
    Case {
        name: "parameters of which no combination is allowed",
        change: |bench| bench.edit(TUNED_FILE, "BLOCK * UNROLL <= 1024", "BLOCK > 4096"),
        arguments: TUNED,
        status: 1,
        says: &["--> scale/kernels/tuned.cu:", "workload `"],
    },
];

#[test]
fn wrong_launch_blocks_are_reported_with_their_place() {
    check_all(Needs::Compiler, LAUNCHES);
}

const STRUCT_LAUNCH: &str = "structs: [(name: \"sizes\", fields: [\"rows * cols: i64\", \"rows: i32\"])],\n    steps: [launch(kernel: \"scale\", args: [\"x\", \"y\", \"sizes\", \"alpha\"], grid:";

const LARGE_ARRAY: &str = "  __shared__ float many[20000];\n  many[threadIdx.x] = i;\n  __syncthreads();\n  y[0] = many[i];\n  if (i";

const COMPILED: &[Case] = &[
    Case {
        name: "a parameter of another size",
        change: |bench| bench.edit(NAIVE_FILE, "long long count", "int count"),
        arguments: NAIVE,
        status: 1,
        says: &["failed: refused", "naive", "parameter 3", "4 bytes but is given 8", "declare i64"],
    },
    Case {
        name: "a parameter of another type and the same size",
        change: |bench| bench.edit(NAIVE_FILE, "float alpha", "int alpha"),
        arguments: NAIVE,
        status: 1,
        says: &["failed: refused", "parameter 4 (`alpha`)", "f32"],
    },
    Case {
        name: "a pointer to another type",
        change: |bench| bench.edit(NAIVE_FILE, "const float* x", "const double* x"),
        arguments: NAIVE,
        status: 1,
        says: &["failed: refused", "parameter 1 (`x`)", "f32"],
    },
    Case {
        name: "a parameter too many",
        change: |bench| bench.edit(NAIVE_FILE, "float alpha", "float alpha, int more"),
        arguments: NAIVE,
        status: 1,
        says: &["failed: refused", "declares 5 parameters but is given 4 arguments"],
    },
    Case {
        name: "a kernel that declares a larger struct than it was given",
        change: |bench| {
            bench.edit(NAIVE_FILE, "steps: [launch(kernel: \"scale\", grid:", STRUCT_LAUNCH);
            bench.edit(NAIVE_FILE, "long long count", "Sizes sizes");
            bench.edit(NAIVE_FILE, "i < count", "i < sizes.count");
            bench.edit(
                NAIVE_FILE,
                "__global__",
                "struct Sizes { long long count; int rows; long long more[4]; };\n__global__",
            );
        },
        arguments: NAIVE,
        status: 1,
        says: &["failed: refused", "parameter 3 (`sizes`)", "48 bytes", "16"],
    },
    Case {
        name: "a template that is never instantiated",
        change: |bench| bench.edit(TUNED_FILE, "scale<PARAM_BLOCK, PARAM_UNROLL>", "scale"),
        arguments: TUNED,
        status: 1,
        says: &["failed: compile", "`scale`, which is a template", "scale<PARAM_BLOCK>"],
    },
    Case {
        name: "a template that is never instantiated, in a file of its own",
        change: |bench| {
            bench.write("alone.cu", "template <int N> __global__ void f(int* x) { *x = N; }\n");
        },
        arguments: &["check", "scale/alone.cu"],
        status: 1,
        says: &["alone.cu contains no kernel", "explicit instantiation"],
    },
    Case {
        name: "a kernel without __global__",
        change: |bench| bench.edit(NAIVE_FILE, "__global__ void", "__device__ void"),
        arguments: NAIVE,
        status: 1,
        says: &["failed: compile", "`scale`, which is not a `__global__` function"],
    },
    Case {
        name: "a kernel that says nothing of where it runs",
        change: |bench| bench.edit(NAIVE_FILE, "__global__ void", "void"),
        arguments: NAIVE,
        status: 1,
        says: &["failed: compile", "`scale`, which is not a `__global__` function"],
    },
    Case {
        name: "a launch of a kernel that is not there",
        change: |bench| bench.edit(NAIVE_FILE, "kernel: \"scale\"", "kernel: \"scales\""),
        arguments: NAIVE,
        status: 1,
        says: &["failed: compile", "`scales`, which this file does not define"],
    },
    Case {
        name: "a file without any kernel",
        change: |bench| bench.write("alone.cu", "__device__ int f() { return 1; }\n"),
        arguments: &["check", "scale/alone.cu"],
        status: 1,
        says: &["alone.cu contains no kernel", "`__global__`"],
    },
    Case {
        name: "more static shared memory than a block may have",
        change: |bench| bench.edit(NAIVE_FILE, "  if (i", LARGE_ARRAY),
        arguments: NAIVE,
        status: 1,
        says: &["failed: compile", "80000 bytes of static shared memory", "at most 49152"],
    },
    Case {
        name: "PTX that is none",
        change: |bench| bench.write("alone.ptx", "mov.u32 nonsense;\n"),
        arguments: &["check", "scale/alone.ptx"],
        status: 1,
        says: &["alone.ptx"],
    },
];

#[test]
fn kernels_that_do_not_fit_their_launch_fail_alone() {
    check_all(Needs::Compiler, COMPILED);
}

#[test]
fn one_wrong_kernel_does_not_stop_the_others() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    bench.edit(NAIVE_FILE, "alpha * x[i]", "alpha * z[i]");
    check_one(
        &bench,
        bench.command(SCALE),
        1,
        &["naive      failed: compile", "BLOCK 128, UNROLL 4", "1 of 3 failed"],
    );
}

#[test]
fn a_kernel_that_is_being_written_stops_no_run() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    bench.write("kernels/draft.cu", "__global__ void draft() {}\n");
    let check = |arguments: &[&str], status, says: &[&str]| {
        let quick = ["--no-times", "--no-history", "--device", "virtual:h200"];
        let arguments = [&["run", "scale"], arguments, &quick].concat();
        check_one(&bench, bench.command(&arguments), status, says);
    };
    let place = "--> scale/kernels/draft.cu:1:1";
    check(&[], 1, &["✓ naive is", "✓ tuned is", "✗ draft cannot be read", place]);
    check(&["--screen"], 1, &["? naive", "✗ draft cannot be read", place]);
    check(&["--json"], 1, &["\"verdict\": \"passed\"", "\"file\": \"kernels/draft.cu\""]);
    check(&["--kernel", "naive"], 0, &["✓ naive is"]);
    check(&["--kernel", "draft"], 1, &[place, "scale/kernels/draft.cu cannot be read"]);
    let launch = ["suggest", "scale", "--kernel", "draft"];
    check_one(&bench, bench.command(&launch), 2, &["`draft` is not understood", "no launch block"]);
}

/// Where the compiler gives no line, the file must be named all the same: a project has many.
const WITHOUT_A_LINE: &[Case] = &[
    Case {
        name: "a template that is never instantiated",
        change: |bench| bench.edit(TUNED_FILE, "scale<PARAM_BLOCK, PARAM_UNROLL>", "scale"),
        arguments: SCALE,
        status: 1,
        says: &["which is a template", "scale/kernels/tuned.cu"],
    },
    Case {
        name: "a kernel without __global__",
        change: |bench| bench.edit(NAIVE_FILE, "__global__ void", "__device__ void"),
        arguments: SCALE,
        status: 1,
        says: &["not a `__global__` function", "scale/kernels/naive.cu"],
    },
    Case {
        name: "a bracket that is open at the end of the file",
        change: |bench| bench.edit(NAIVE_FILE, "    y[i] = alpha * x[i];\n  }\n}", ""),
        arguments: SCALE,
        status: 1,
        says: &["expected a \"}\"", "at the end of the file", "scale/kernels/naive.cu"],
    },
    Case {
        name: "more static shared memory than a block may have",
        change: |bench| bench.edit(NAIVE_FILE, "  if (i", LARGE_ARRAY),
        arguments: SCALE,
        status: 1,
        says: &["80000 bytes of static shared memory", "scale/kernels/naive.cu"],
    },
];

#[test]
fn messages_without_a_line_name_the_file() {
    check_all(Needs::Compiler, WITHOUT_A_LINE);
}
