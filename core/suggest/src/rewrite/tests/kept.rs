//! Rows in registers, and structs that become variables.

use super::places::check;
use super::refusals::refused;
use super::{applied, sample, vectors};

const BLOCKS: &str = "params: { \"BLOCK\": [64, 256] },
    steps: [launch(kernel: \"soft\", grid: [\"rows\"], block: [\"BLOCK\"])],";
const SOFT: &str = "soft(const float* x, float* y, long long rows, long long cols)";
const ROW: &str = "    const float* p = x + blockIdx.x * cols;
    float* q = y + blockIdx.x * cols;
";

const STRUCTURE: &str = "constexpr int elements_of_chunk = axis::cols % 4 == 0 ? 4 : axis::cols % 2 == 0 ? 2 : 1;
constexpr long long chunks_of_row = axis::cols / elements_of_chunk;
// Longer rows do not fit into registers.
constexpr int kept_chunks = axis::cols <= 32 * PARAM_BLOCK ? (chunks_of_row + PARAM_BLOCK - 1) / PARAM_BLOCK : 0;

template <typename T>
struct __align__(elements_of_chunk * sizeof(T)) Chunk {
    T at[elements_of_chunk];
};

__global__";

const FIRST: &str = "const bool is_kept = kept_chunks > 0 && reinterpret_cast<unsigned long long>(p) % sizeof(Chunk<float>) == 0;
    Chunk<float> p_kept[kept_chunks > 0 ? kept_chunks : 1];
    if (is_kept) {
#pragma unroll
        for (int item = 0; item < kept_chunks; ++item) {
            const int chunk = threadIdx.x + item * PARAM_BLOCK;
            if (chunk < chunks_of_row) {
                p_kept[item] = *reinterpret_cast<const Chunk<float>*>(p + chunk * elements_of_chunk);
            }
        }
    }
    if (is_kept) {
#pragma unroll
        for (int item = 0; item < kept_chunks; ++item) {
            const int chunk = threadIdx.x + item * PARAM_BLOCK;
            if (chunk < chunks_of_row) {
                const int c = chunk * elements_of_chunk;
#pragma unroll
                for (int lane = 0; lane < elements_of_chunk; ++lane) if (c + lane >= 1) best = fmaxf(best, p_kept[item].at[lane]);
            }
        }
    } else {
        for (int c = 1 + threadIdx.x; c < cols; c += blockDim.x) best = fmaxf(best, p[c]);
    }
";

const SECOND: &str =
    "    if (is_kept && reinterpret_cast<unsigned long long>(q) % sizeof(Chunk<float>) == 0) {
#pragma unroll
        for (int item = 0; item < kept_chunks; ++item) {
            const int chunk = threadIdx.x + item * PARAM_BLOCK;
            if (chunk < chunks_of_row) {
                const int c = chunk * elements_of_chunk;
                Chunk<float> q_vector;
#pragma unroll
                for (int lane = 0; lane < elements_of_chunk; ++lane) {
                    q_vector.at[lane] = p_kept[item].at[lane] - best;
                }
                *reinterpret_cast<Chunk<float>*>(q + c) = q_vector;
            }
        }
    } else {
#pragma unroll 2
        for (int c = threadIdx.x; c < cols; c += blockDim.x) {
            q[c] = p[c] - best;
        }
    }
";

#[test]
fn a_row_is_loaded_once() {
    let body = format!(
        "{ROW}    float best = p[0];
    for (int c = 1 + threadIdx.x; c < cols; c += blockDim.x) best = fmaxf(best, p[c]);
#pragma unroll 2
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {{
        q[c] = p[c] - best;
    }}
"
    );
    let old =
        "    for (int c = 1 + threadIdx.x; c < cols; c += blockDim.x) best = fmaxf(best, p[c]);\n";
    let old_second = "#pragma unroll 2
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        q[c] = p[c] - best;
    }
";
    check(
        "softmax",
        "row-in-registers",
        0,
        &vectors(BLOCKS, SOFT, &body),
        &[
            (
                "[64, 256] }",
                "[64, 256, 128, 512, 1024] },\n    require: [\"cols <= 32 * BLOCK or BLOCK == 1024\", \"4 * BLOCK <= cols or BLOCK == 64\"],\n    constants: [\"cols\"]",
            ),
            ("__global__", STRUCTURE),
            (old, &format!("    {FIRST}")),
            (old_second, SECOND),
        ],
    );
}

#[test]
fn rows_that_are_not_kept_say_why() {
    let check = |body: &str, expected: &str| {
        let text = vectors(BLOCKS, SOFT, &format!("{ROW}{body}"));
        refused("softmax", "row-in-registers", &text, expected);
    };
    let pass = |work: &str| {
        format!("    for (int c = threadIdx.x; c < cols; c += blockDim.x) {{ {work} }}\n")
    };
    let two =
        "expected two loops in which a warp or a block reads the same input up to the same axis";
    check(&pass("q[c] = p[c];"), two);
    check(&format!("    float s = 0;\n{}{}", pass("s += p[c];"), pass("s += x[c];")), two);
    let alone = "    float s = 0;\n    for (int c = 0; c < cols; ++c) { s += p[c]; }\n";
    check(&format!("{alone}{alone}"), "expected a loop that a warp or a block shares");
    check(&format!("{}{}", pass("q[c] = p[c];"), pass("q[c] = q[c] + p[c];")), "is also used as");
    check(
        &format!(
            "    __shared__ float t[4096];\n{}{}",
            pass("t[c] = p[c];"),
            pass("q[c] = p[c] + t[0];")
        ),
        "`t[c]` is also used as `t[c] = p[c]`",
    );
    check(&pass("if (p[c] > 0) break;"), "the loop may end early");
    // Elements that no loop loads in any case may not exist.
    let some = pass("if (c < 3) { q[c] = p[c]; }").replace("q[c]", "float s");
    check(&format!("{some}{some}"), two);
    let late = pass("float s = x[c];") + "    const float* r = x;\n" + &pass("float s = r[c];");
    check(&format!("{late}{}", pass("float s = r[c];").replace("r[c]", "x[1]")), two);
}

#[test]
fn rows_of_threads_are_shared_and_kept_in_one_step() {
    let block = "params: { \"BLOCK\": [64, 32] },
    steps: [launch(kernel: \"soft\", grid: [\"ceil_div(rows, BLOCK)\"], block: [\"BLOCK\"])],";
    let body =
        "    const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    const float* p = x + row * cols;
    for (long long c = 0; c < cols; ++c) { sum += p[c]; }
    for (long long c = 0; c < cols; ++c) { y[row * cols + c] = p[c] - sum; }
";
    let made = applied(&sample("softmax"), &vectors(block, SOFT, body), "block-per-row", 1);
    for expected in [
        "params: { \"BLOCK\": [64, 32, 128, 256, 512, 1024], \"ROWS\": [4, 1, 2, 8] },
    require: [\"ROWS == 1 or BLOCK == 32\", \"cols <= 32 * BLOCK or BLOCK == 1024\", \"4 * BLOCK <= cols or BLOCK == 32\"],
    constants: [\"cols\"],
    steps: [launch(kernel: \"soft\", grid: [\"ceil_div(rows, ROWS)\"], block: [\"BLOCK\", \"ROWS\"])],",
        "    value = across_warp(value, join);
    if (blockDim.x == 32) {
        return value;
    }
    __syncthreads();",
        "row = static_cast<long long>(blockIdx.x) * PARAM_ROWS + threadIdx.y;\n    const int lane = threadIdx.x;",
        "sum_part += p_kept[item].at[lane_2];",
    ] {
        assert!(made.contains(expected), "\n--- made\n{made}\n--- expected\n{expected}");
    }
}

const SUM: &str = "struct Sum {
    float value = 0.0f;
    float lost = 0.0f;

    __device__ void add(float term) {
        const float corrected = term - lost;
        const float next = value + corrected;
        lost = (next - value) - corrected;
        value = next;
    }
};

__global__";

#[test]
fn a_struct_that_collects_becomes_variables() {
    let block = "params: { \"BLOCK\": [64, 128] },
    steps: [launch(kernel: \"soft\", grid: [\"ceil_div(rows, BLOCK)\"], block: [\"BLOCK\"])],";
    let body =
        "    const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    Sum sum;
    for (long long c = 0; c < cols; ++c) sum.add(x[row * cols + c]);
    y[row] = sum.value;
";
    let text = vectors(block, SOFT, body).replace("__global__", SUM);
    let helper = "template <typename T, typename Join>
__device__ T across_warp(T value, Join join) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value = join(value, __shfl_xor_sync(0xffffffffu, value, distance));
    }
    return value;
}

__global__";
    check(
        "softmax",
        "warp-per-row",
        0,
        &text,
        &[
            ("ceil_div(rows, BLOCK)", "ceil_div(32 * (rows), BLOCK)"),
            ("__global__", helper),
            (
                "static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;",
                "static_cast<long long>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;\n    const int lane = threadIdx.x % 32;",
            ),
            (
                "    Sum sum;\n    for (long long c = 0; c < cols; ++c) sum.add(x[row * cols + c]);\n    y[row] = sum.value;",
                "    float sum_value = 0.0f;
    float sum_lost = 0.0f;
    float sum_value_part = 0, sum_lost_part = 0;
    for (long long c = lane; c < cols; c += 32) {
        const float sum_corrected = x[row * cols + c] - sum_lost_part;
        const float sum_next = sum_value_part + sum_corrected;
        sum_lost_part = (sum_next - sum_value_part) - sum_corrected;
        sum_value_part = sum_next;
    }
    sum_value += across_warp(sum_value_part, [](float a, float b) { return a + b; });
    if (lane == 0) {
        y[row] = sum_value;
    }",
            ),
        ],
    );
    // A constructor is not a method.
    let made =
        text.replace("    __device__ void add", "    __device__ Sum() {}\n    __device__ void add");
    refused("softmax", "warp-per-row", &made, "a function of the file may write to its arguments");
    // A struct that is passed on stays, and the rule says what prevents the change.
    let other = text.replace("y[row] = sum.value;", "Sum copy = sum;\n    y[row] = copy.value;");
    refused("softmax", "warp-per-row", &other, "a function of the file may write to its arguments");
}
