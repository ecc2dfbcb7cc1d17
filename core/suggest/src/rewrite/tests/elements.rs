//! Rules that give a thread more elements: neighbours, elements before a tree, and one loop in place of two.

use super::places::check;
use super::refusals::refused;
use super::{applied, sample, vectors};

const TUNED: &str = "params: { \"BLOCK\": [256, 128] },
    steps: [launch(kernel: \"add\", grid: [\"ceil_div(n, BLOCK)\"], block: [\"BLOCK\"])],";
const PLAIN: &str = "add(const float* a, const float* b, float* c, long long n)";
const INDEX: &str =
    "    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;\n";

#[test]
fn a_thread_moves_neighbouring_elements_as_vectors() {
    let body = format!("{INDEX}    if (i < n) {{\n        c[i] = a[i] + b[i % 3];\n    }}\n");
    check(
        "vector-add",
        "neighbouring-elements",
        0,
        &vectors(TUNED, PLAIN, &body),
        &[
            ("[256, 128]", "[256, 128], \"VECTOR\": [4, 8, 2]"),
            ("ceil_div(n, BLOCK)", "ceil_div(ceil_div(n, BLOCK), VECTOR)"),
            (
                "__global__",
                "template <typename T>
struct __align__(PARAM_VECTOR * sizeof(T) < 16 ? PARAM_VECTOR * sizeof(T) : 16) Neighbours {
    T at[PARAM_VECTOR];
};

__global__",
            ),
            ("i = static_cast", "first = PARAM_VECTOR * (static_cast"),
            (
                "threadIdx.x;\n    if (i < n) {\n        c[i] = a[i] + b[i % 3];\n    }",
                "threadIdx.x);
    long long rest = first;
    if (first + PARAM_VECTOR <= n && 3 % PARAM_VECTOR == 0) {
        const long long i = first;
        if (reinterpret_cast<unsigned long long>(&c[i]) % alignof(Neighbours<float>) == 0 && reinterpret_cast<unsigned long long>(&a[i]) % alignof(Neighbours<float>) == 0 && reinterpret_cast<unsigned long long>(&b[i % 3]) % alignof(Neighbours<float>) == 0) {
            Neighbours<float> c_vector1;
            const Neighbours<float> a_vector1 = *reinterpret_cast<const Neighbours<float>*>(&a[i]);
            const Neighbours<float> b_vector1 = *reinterpret_cast<const Neighbours<float>*>(&b[i % 3]);
#pragma unroll
            for (int lane = 0; lane < PARAM_VECTOR; ++lane) {
                c_vector1.at[lane] = a_vector1.at[lane] + b_vector1.at[lane];
            }
            *reinterpret_cast<Neighbours<float>*>(&c[i]) = c_vector1;
            rest += PARAM_VECTOR;
        }
    }
#pragma unroll 1
    for (long long i = rest; i < first + PARAM_VECTOR && i < n; ++i) {
        c[i] = a[i] + b[i % 3];
    }",
            ),
        ],
    );
}

#[test]
fn what_neighbours_share_is_computed_once_and_the_rest_for_each() {
    let body = format!(
        "{INDEX}    if (i >= n) return;
    const long long row = i / 64;
    const float* p = a + row * 64;
    const float scale = b[row];
    const float gathered = b[i * 2];
    c[i] = p[i % 64] * scale + gathered;
"
    );
    let made =
        applied(&sample("vector-add"), &vectors(TUNED, PLAIN, &body), "neighbouring-elements", 0);
    for expected in [
        "    if (first + PARAM_VECTOR <= n && 64 % PARAM_VECTOR == 0) {
        const long long i = first;
        const long long row = i / 64;
        const float* p = a + row * 64;
        const float scale = b[row];
        if (",
        "            for (int lane = 0; lane < PARAM_VECTOR; ++lane) {
                const float gathered = b[(i + lane) * 2];
                c_vector1.at[lane] = p_vector1.at[lane] * scale + gathered;
            }",
    ] {
        assert!(made.contains(expected), "{made}");
    }
}

#[test]
fn elements_that_are_not_neighbours_stay_in_threads_of_their_own() {
    let check = |body: &str, expected: &str| {
        let text = vectors(TUNED, PLAIN, &format!("{INDEX}{body}"));
        refused("vector-add", "neighbouring-elements", &text, expected);
    };
    check("    if (i < n) { c[2 * i] = a[i]; }\n", "expected results that are stored as vectors");
    check("    if (i < n) { if (a[i] > 0) c[i] = 1; }\n", "results that are stored as vectors");
    check("    if (i < n) { c[i] = a[i]; c[i] = c[i] + 1; }\n", "stored as vectors");
    check("    if (i < n) { c[0 * n] += a[i]; }\n", "results that are stored as vectors");
    check("    if (i < n) { *(c + i) = a[i]; }\n", "accesses by names of pointers");
    check("    if (i < n) { c[i] = a[i]; atomicAdd(c + i, 1.0f); }\n", "by names of pointers");
    check("    if (i < n) { put(c, i); c[i] = a[i]; }\n", "by names of pointers");
    check("    c[i] = a[i];\n", "the guard of the index right behind it");
}

const TREE: &str = "    __shared__ float part[256];
    const long long i = blockIdx.x * 256LL + threadIdx.x;
    part[threadIdx.x] = i < n ? a[i] * a[i] : 0.0f;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s) {
            part[threadIdx.x] += part[threadIdx.x + s];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        atomicAdd(c, part[0]);
    }
";
const FIXED: &str = "params: { \"BLOCK\": [256] },
    steps: [launch(kernel: \"add\", grid: [\"ceil_div(n, 256)\"], block: [256])],";

#[test]
fn a_thread_adds_several_elements_before_the_tree() {
    let tree = TREE.replace("s = 128", "s = 256 / 2");
    check(
        "vector-add",
        "serial-sums",
        0,
        &vectors(FIXED, PLAIN, &tree),
        &[
            ("[256]", "[256], \"ITEMS\": [16, 4, 64, 1], \"BLOCKS_PER_SM\": [8, 4, 2, 16]"),
            (
                "ceil_div(n, 256)",
                "min(ceil_div(ceil_div(n, 256), ITEMS), BLOCKS_PER_SM * device.sms)",
            ),
            ("    const long long i = blockIdx.x * 256LL + threadIdx.x;\n", ""),
            (
                "part[threadIdx.x] = i < n ? a[i] * a[i] : 0.0f;",
                "float thread_sum = 0;
    for (long long i = blockIdx.x * 256LL + threadIdx.x; i < n; i += static_cast<long long>(gridDim.x) * blockDim.x) {
        thread_sum += a[i] * a[i];
    }
    part[threadIdx.x] = thread_sum;",
            ),
        ],
    );
}

#[test]
fn sums_that_depend_on_the_block_are_not_merged() {
    let tree = TREE.replace("s = 128", "s = 256 / 2");
    let check = |old: &str, new: &str, expected: &str| {
        let text = vectors(FIXED, PLAIN, &tree.replace(old, new));
        refused("vector-add", "serial-sums", &text, expected);
    };
    check("atomicAdd(c, part[0])", "c[0] = part[0]", "would be written less often");
    check("atomicAdd(c,", "atomicAdd(c + threadIdx.x,", "`part` is also used as");
    check("atomicAdd(c,", "atomicAdd(c + blockIdx.x,", "`blockIdx.x` is also used as");
    check(
        "if (threadIdx.x == 0)",
        "atomicAdd(c, 1); if (threadIdx.x == 0)",
        "would be written less often",
    );
    check(
        "if (threadIdx.x == 0)",
        "c[threadIdx.x] = 1; if (threadIdx.x == 0)",
        "would be written less often",
    );
    check(": 0.0f", ": 1.0f", "expected `a[threadIdx.x] = i < n ?");
    check("i < n ?", "i <= n ?", "expected `a[threadIdx.x] = i < n ?");
    check("if (threadIdx.x == 0)", "if (i == 0)", "expected `a[threadIdx.x] = i < n ?");
}

const ROWS: &str = "params: { \"BLOCK\": [64, 128] },
    steps: [launch(kernel: \"soft\", grid: [\"ceil_div(rows, BLOCK)\"], block: [\"BLOCK\"])],";
const SOFT: &str = "soft(const float* x, float* y, long long rows, long long cols)";
const EXPONENTIALS: &str =
    "    const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* p = x + row * cols;
    float best = p[0];
    for (int c = 1; c < cols; ++c) {
        best = fmaxf(best, p[c]);
    }
    float sum = 0;
    for (int c = 0; c < cols; ++c) {
        sum += expf(p[c] - best);
    }
    y[row * cols] = sum;
";

#[test]
fn the_sum_follows_a_running_maximum() {
    let turn = |count: &str| {
        format!(
            "            float values[{count}];
#pragma unroll
            for (int item = 0; item < {count}; ++item) {{
                values[item] = p[(c + item)];
            }}
            float larger = best;
#pragma unroll
            for (int item = 0; item < {count}; ++item) {{
                larger = fmaxf(larger, values[item]);
            }}
            const float scale = expf(best - larger);
            running_sum *= scale;
            best = larger;
            float added = 0.0f;
#pragma unroll
            for (int item = 0; item < {count}; ++item) {{
                added += expf(values[item] - best);
            }}
            {{
                running_sum += added;
            }}
        }}
"
        )
    };
    let joined = format!(
        "float running_sum = 0.0f;
    {{
        int c = 0;
        for (; c < static_cast<int>(cols) - (PARAM_CHUNK - 1); c += PARAM_CHUNK) {{
{}        for (; c < cols; ++c) {{
{}    }}
    const float own_maximum = best;",
        turn("PARAM_CHUNK"),
        turn("1")
    );
    check(
        "softmax",
        "running-maximum",
        0,
        &vectors(ROWS, SOFT, EXPONENTIALS),
        &[
            ("[64, 128]", "[64, 128], \"CHUNK\": [8, 4, 16]"),
            (
                "for (int c = 1; c < cols; ++c) {\n        best = fmaxf(best, p[c]);\n    }",
                joined.as_str(),
            ),
            (
                "for (int c = 0; c < cols; ++c) {\n        sum += expf(p[c] - best);\n    }",
                "sum += own_maximum == best ? running_sum : running_sum * expf(own_maximum - best);",
            ),
        ],
    );
}

#[test]
fn loops_over_other_values_are_not_joined() {
    let check = |old: &str, new: &str, expected: &str| {
        let text = vectors(ROWS, SOFT, &EXPONENTIALS.replacen(old, new, 1));
        refused("softmax", "running-maximum", &text, expected);
    };
    let apart = "expected two loops with the same iterations";
    check("float best = p[0]", "float best = p[1]", apart);
    check("int c = 1;", "int c = 2;", apart);
    check("int c = 0;", "int c = 2;", apart);
    check("best, p[c]", "best, 2 * p[c]", apart);
    check("int c = 0; c < cols", "int c = 0; c < cols - 1", apart);
    check("float sum = 0;", "float sum = 0; p = p + 1;", apart);
    let then = "expected then a loop of `sum += expf(… - best)`";
    check("sum += expf(p[c] - best)", "sum += 2 * expf(p[c] - best)", then);
    check("sum += expf(p[c] - best)", "sum += expf(best - p[c])", then);
    check("p[c] - best);", "p[c] - best); y[c] = best;", then);
    check("best, p[c]", "best, y[c]", apart);
    check("best = fmaxf(best, p[c])", "best = fminf(best, p[c])", "there is no innermost loop");
}
