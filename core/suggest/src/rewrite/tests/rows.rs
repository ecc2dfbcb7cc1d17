//! Rows that a warp or a block shares: what becomes of small kernels, and what is left as it is.

use super::places::check;
use super::refusals::refused;
use super::{applied, kernel, rewrites, sample, vectors};

const ROWS: &str = "params: { \"BLOCK\": [64, 128] },
    steps: [launch(kernel: \"soft\", grid: [\"ceil_div(rows, BLOCK)\"], block: [\"BLOCK\"])],";
const SOFT: &str = "soft(const float* x, float* y, long long rows, long long cols)";
const ROW: &str =
    "    const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= rows) return;
";

#[test]
fn a_warp_shares_the_loops_over_a_row() {
    let body = format!(
        "{ROW}    const float* p = x + row * cols;
    float best = p[0];
    for (int c = 1; c < cols; ++c) {{
        if (p[c] > best) best = p[c];
    }}
    float sum = 0;
    for (int c = 0; c < cols; c++) sum = sum + expf(p[c] - best);
    int large = 0;
    for (int c = 0; c < cols; ++c) {{
        if (p[c] > 1) {{
            ++large;
        }}
    }}
    sum = sum + large;
    for (size_t c = 0; c < cols; ++c) {{
        y[row * cols + c] = expf(p[c] - best) / sum;
    }}
"
    );
    let helper = "template <typename T, typename Join>
__device__ T across_warp(T value, Join join) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value = join(value, __shfl_xor_sync(0xffffffffu, value, distance));
    }
    return __shfl_sync(0xffffffffu, value, 0);
}

__global__";
    check(
        "softmax",
        "warp-per-row",
        0,
        &vectors(ROWS, SOFT, &body),
        &[
            ("ceil_div(rows, BLOCK)", "ceil_div(32 * (rows), BLOCK)"),
            ("__global__", helper),
            (
                "static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;",
                "static_cast<long long>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;\n    const int lane = threadIdx.x % 32;",
            ),
            ("c = 1; c < cols; ++c", "c = 1 + lane; c < cols; c += 32"),
            (
                "best = p[c];\n    }\n    float sum = 0;\n    for (int c = 0; c < cols; c++) sum = sum + expf(p[c] - best);",
                "best = p[c];
    }
    best = across_warp(best, [](float a, float b) { return b > a ? b : a; });
    float sum = 0;
    float sum_part = 0;
    for (int c = lane; c < cols; c += 32) sum_part = sum_part + expf(p[c] - best);
    sum += across_warp(sum_part, [](float a, float b) { return a + b; });",
            ),
            ("int large = 0;", "int large = 0;\n    int large_part = 0;"),
            ("c = 0; c < cols; ++c", "c = lane; c < cols; c += 32"),
            (
                "++large;\n        }\n    }",
                "++large_part;
        }
    }
    large += across_warp(large_part, [](int a, int b) { return a + b; });",
            ),
            ("c = 0; c < cols; ++c", "c = lane; c < cols; c += 32"),
        ],
    );
}

#[test]
fn a_counter_that_would_overflow_behind_its_end_is_widened() {
    let looped = |kind: &str| {
        let head = format!("for ({kind} c = 0; c < 65536 * cols; ++c)");
        format!("{ROW}    float s = 0;\n    {head} {{ s += x[row * cols]; }}\n    y[row] = s;\n")
    };
    let made = applied(&sample("softmax"), &vectors(ROWS, SOFT, &looped("int")), "warp-per-row", 0);
    let expected = "for (long long c = lane; c < 65536 * cols; c += 32)";
    assert!(made.contains(expected), "{made}");
    let text = vectors(ROWS, SOFT, &looped("unsigned"));
    refused("softmax", "warp-per-row", &text, "`65536 * cols` may be 2147483648");
}

#[test]
fn one_thread_of_a_block_writes_what_is_one_result() {
    let block = "params: { \"BLOCK\": [128] },
    steps: [launch(kernel: \"mv\", args: [\"offsets\", \"values\", \"y\", \"rows\"], grid: [\"ceil_div(rows, BLOCK)\"], block: [\"BLOCK\"])],";
    let body = "    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        int total = 0;
        for (int i = offsets[row]; i < offsets[row + 1]; ++i) {
            total += values[i] > 0;
        }
        y[row] = total;
    }
";
    let signature = "mv(const int* offsets, const float* values, float* y, int rows)";
    check(
        "spmv-csr",
        "block-per-row",
        0,
        &vectors(block, signature, body),
        &[
            ("ceil_div(rows, BLOCK)", "rows"),
            (
                "__global__",
                "template <typename T, typename Join>
__device__ T across_warp(T value, Join join) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value = join(value, __shfl_xor_sync(0xffffffffu, value, distance));
    }
    return value;
}

template <typename T, typename Join>
__device__ T across_block(T value, Join join) {
    __shared__ T parts[32];
    value = across_warp(value, join);
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        parts[threadIdx.x / 32] = value;
    }
    __syncthreads();
    value = parts[0];
    for (int warp = 1; warp < blockDim.x / 32; ++warp) {
        value = join(value, parts[warp]);
    }
    return value;
}

__global__",
            ),
            (
                "blockIdx.x * blockDim.x + threadIdx.x;",
                "blockIdx.x;\n    const int lane = threadIdx.x;",
            ),
            ("for", "int total_part = 0;\n        for"),
            (
                "i = offsets[row]; i < offsets[row + 1]; ++i",
                "i = offsets[row] + lane; i < offsets[row + 1]; i += blockDim.x",
            ),
            (
                "total += values[i] > 0;\n        }",
                "total_part += values[i] > 0;
        }
        total += across_block(total_part, [](int a, int b) { return a + b; });",
            ),
            ("y[row] = total;", "if (lane == 0) {\n            y[row] = total;\n        }"),
        ],
    );
}

#[test]
fn rows_whose_threads_cannot_share_are_left() {
    let check = |body: &str, expected: &str| {
        for id in ["warp-per-row", "block-per-row"] {
            refused("softmax", id, &vectors(ROWS, SOFT, body), expected);
        }
    };
    let looped = |work: &str| {
        format!(
            "{ROW}    float s = 0;\n    for (long long c = 0; c < cols; ++c) {{ {work} }}\n    y[row * cols] = s;\n"
        )
    };
    check(&format!("{ROW}    y[row] = x[row];\n"), "a loop whose turns can be shared");
    check(&looped("s = s * 0.5f + x[row * cols + c];"), "changes by `sum += …`");
    check(&looped("if (c > 3) s -= x[c];"), "changes by `sum += …`");
    check(
        &format!("{ROW}    __shared__ float t[4];\n    t[0] = x[row];\n    y[row] = t[0];\n"),
        "no shared or static variables",
    );
    check(
        &format!(
            "{ROW}    for (int t = 0; t < 4; ++t) {{\n        float* q = y + row * cols + t;\n        for (long long c = 0; c < cols; ++c) {{ q[c] = x[c]; }}\n    }}\n"
        ),
        "an element of its own for each turn",
    );
    check(&looped("s += x[row * cols + c]; if (s > 3) break;"), "the loop may end early");
    check(&looped("y[row * cols + c / 2] = x[c];"), "an element of its own for each turn");
    check(&looped("y[row * cols + c] = x[c];"), "`y` is also used as `y[row * cols]`");
    check(
        &format!(
            "{ROW}    y[row] = 1;\n    float s = 0;\n    for (long long c = 0; c < cols; ++c) {{ s += y[c]; }}\n"
        ),
        "`y` is also used as",
    );
    check(
        &format!("{ROW}    float s = 0;\n    while (s < 3) {{ s += x[row]; }}\n    y[row] = s;\n"),
        "declarations, conditions, loops that count, and assignments",
    );
    check(
        "    float s = 0;\n    for (long long c = 0; c < cols; ++c) { s += x[c]; }\n    y[0] = s;\n",
        "expected a variable with `blockIdx.x * block + threadIdx.x`",
    );
    let narrow = ROWS.replace("[64, 128]", "[16]");
    let text = vectors(&narrow, SOFT, &looped("s += x[row * cols + c];"));
    refused(
        "softmax",
        "warp-per-row",
        &text,
        "found `a block of 16`; expected blocks of whole warps",
    );
}

#[test]
fn lanes_of_a_warp_that_share_a_row_move_vectors() {
    let text = |lane: &str, row: &str| {
        let body = format!(
            "    const int row = {row};
    const int lane = {lane};
    if (row >= rows) return;
    const float* p = x + row * cols;
    float sum = 0;
    for (int c = lane; c < cols; c += 32) {{
        sum += p[c];
    }}
    y[row * cols + lane] = sum;
"
        );
        vectors(ROWS, SOFT, &body)
    };
    let own = text("threadIdx.x % 32", "blockIdx.x * 2 + threadIdx.x / 32");
    let project = sample("softmax");
    let found = rewrites(&project, &kernel(&project, &own), "vector-access").unwrap();
    assert_eq!(found[0].what, "`p` moves 16 bytes at a time in the loop of line 13");
    // Neighbouring lanes in different rows would leave elements out.
    let apart = text("threadIdx.x % 32", "blockIdx.x * 2 + threadIdx.x / 16");
    refused("softmax", "vector-access", &apart, "some threads may not reach the loop");
    let whole = text("threadIdx.x % 16", "blockIdx.x * 2 + threadIdx.x / 32");
    refused("softmax", "vector-access", &whole, "from the thread by the warp, block or grid");
}
