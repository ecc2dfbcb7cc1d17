//! Rules by which threads share their work: what becomes of small kernels, and what is left as it is.

use super::places::check;
use super::{kernel, rewrites, sample, vectors};

const COUNTING: &str = "params: { \"BLOCK\": [256, 128] },
    steps: [fill(buffer: \"counts\", value: 0), launch(kernel: \"count\", grid: [\"ceil_div(n, BLOCK)\"], block: [\"BLOCK\"])],";
const COUNTS: &str = "count(const unsigned char* x, unsigned int* counts, long long n)";
const OWN: &str =
    "    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;\n";

const PRODUCT: &str = "params: { \"SIDE\": [8, 16] },
    steps: [launch(kernel: \"product\", grid: [\"ceil_div(n, 32)\", \"ceil_div(m, SIDE)\"], block: [32, \"SIDE\"])],";
const MATRICES: &str = "product(const float* a, const float* b, float* c, int m, int n, int k)";
const PLACES: &str = "    const int x = blockIdx.x * 32 + threadIdx.x;
    const int y = blockIdx.y * PARAM_SIDE + threadIdx.y;
";

const ROWS: &str = "params: { \"BLOCK\": [64, 128] },
    steps: [launch(kernel: \"soft\", grid: [\"ceil_div(rows, BLOCK)\"], block: [\"BLOCK\"])],";
const SOFT: &str = "soft(const float* x, float* y, long long rows, long long cols)";
const ROW: &str =
    "    const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= rows) return;
";

/// What a rule says of a kernel that it leaves as it is.
#[track_caller]
fn refused(project: &str, id: &str, text: &str, expected: &str) {
    let project = sample(project);
    match rewrites(&project, &kernel(&project, text), id) {
        Ok(found) => panic!("{id} applies: {found:?}\n{text}"),
        Err(why) => assert!(why.to_string().contains(expected), "{id}: {why}\n{text}"),
    }
}

#[test]
fn blocks_count_for_themselves_and_do_more_than_one_element_a_thread() {
    let body = format!("{OWN}    if (i < n) {{\n        atomicAdd(&counts[x[i]], 1u);\n    }}\n");
    check("histogram", "private-counts", 0, &vectors(COUNTING, COUNTS, &body), &[
        ("[256, 128] }", "[256, 128], \"ITEMS\": [16, 4, 64, 1], \"BLOCKS_PER_SM\": [8, 4, 2, 16] }"),
        ("ceil_div(n, BLOCK)", "min(ceil_div(ceil_div(n, BLOCK), ITEMS), BLOCKS_PER_SM * device.sms)"),
        (&format!("{{\n{OWN}    if (i < n) "), "{
    __shared__ unsigned int block_counts[256];
    for (int place = threadIdx.x; place < 256; place += blockDim.x) {
        block_counts[place] = 0;
    }
    __syncthreads();
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += static_cast<long long>(gridDim.x) * blockDim.x) "),
        ("counts[x[i]], 1u);\n    }\n", "block_counts[x[i]], 1u);
    }
    __syncthreads();
    for (int place = threadIdx.x; place < 256; place += blockDim.x) {
        if (block_counts[place] != 0) {
            atomicAdd(&counts[place], block_counts[place]);
        }
    }
"),
    ]);
}

#[test]
fn guards_that_leave_become_conditions_where_a_barrier_follows() {
    let fixed = "steps: [launch(kernel: \"count\", grid: [\"132\"], block: [16, 8])],";
    let body = "    const int i = blockIdx.x * 128 + threadIdx.y * 16 + threadIdx.x;
    if (i >= n || i == 7)
        return;
    atomicAdd(counts + x[i], 2);
    if (i == 0) {
        atomicAdd(counts, 1);
    }
";
    check("histogram", "private-counts", 0, &vectors(fixed, COUNTS, body), &[
        ("{\n    const", "{
    __shared__ unsigned int block_counts[256];
    for (int place = threadIdx.y * blockDim.x + threadIdx.x; place < 256; place += blockDim.x * blockDim.y) {
        block_counts[place] = 0;
    }
    __syncthreads();
    const"),
        ("if (i >= n || i == 7)\n        return;\n    atomicAdd(counts + x[i], 2);\n    if (i == 0) {\n        atomicAdd(counts, 1);\n    }\n",
         "if (i < n && i != 7) {
        atomicAdd(block_counts + x[i], 2);
        if (i == 0) {
            atomicAdd(&block_counts[0], 1);
        }
    }
    __syncthreads();
    for (int place = threadIdx.y * blockDim.x + threadIdx.x; place < 256; place += blockDim.x * blockDim.y) {
        if (block_counts[place] != 0) {
            atomicAdd(&counts[place], block_counts[place]);
        }
    }
"),
    ]);
}

#[test]
fn threads_of_a_block_may_have_several_copies_of_the_counters() {
    let one_block = "steps: [launch(kernel: \"count\", grid: [1], block: [64])],";
    let body =
        "    for (long long i = threadIdx.x; i < n; i += 64) atomicAdd(&counts[x[i]], 1u);\n";
    check(
        "histogram",
        "private-counts",
        1,
        &vectors(one_block, COUNTS, body),
        &[
            ("\"a test\"", "\"a test\",\n    params: { \"COPIES\": [8, 4, 16, 2] }"),
            (
                "{\n    for",
                "{
    __shared__ unsigned int block_counts[PARAM_COPIES * 257];
    unsigned int* own_counts = block_counts + threadIdx.x % PARAM_COPIES * 257;
    for (int place = threadIdx.x; place < PARAM_COPIES * 257; place += blockDim.x) {
        block_counts[place] = 0;
    }
    __syncthreads();
    for",
            ),
            (
                "&counts[x[i]], 1u);\n",
                "&own_counts[x[i]], 1u);
    __syncthreads();
    for (int place = threadIdx.x; place < 256; place += blockDim.x) {
        unsigned int sum = 0;
        for (int copy = 0; copy < PARAM_COPIES; ++copy) {
            sum += block_counts[copy * 257 + place];
        }
        if (sum != 0) {
            atomicAdd(&counts[place], sum);
        }
    }
",
            ),
        ],
    );
}

#[test]
fn counters_that_somebody_else_needs_stay_where_they_are() {
    let check = |body: &str, expected: &str| {
        refused("histogram", "private-counts", &vectors(COUNTING, COUNTS, body), expected);
    };
    check("    counts[0] = 1;\n", "there is no `atomicAdd` on an array");
    check(
        "    atomicAdd(&counts[x[0]], 1u);\n    counts[1] = 3;\n",
        "`counts` is also used as `counts[1] = 3`",
    );
    check(
        "    unsigned int old = atomicAdd(&counts[0], 1u);\n    if (old == 7) return;\n",
        "`atomicAdd` is also used as `old = atomicAdd(&counts[0], 1u)`",
    );
    check(
        "    __shared__ int a[4];\n    a[0] = 1;\n    atomicAdd(&counts[a[0]], 1u);\n",
        "shared memory is taken",
    );
    check(
        "    for (int j = 0; j < 4; ++j) {\n        if (x[j] == 3) return;\n        atomicAdd(&counts[j], 1u);\n    }\n",
        "threads that leave do not come to the barrier",
    );
    check(
        "    if (x[threadIdx.x] == 3) return;\n    __syncwarp();\n    atomicAdd(&counts[0], 1u);\n",
        "threads meet behind a guard",
    );
    let sums = "steps: [fill(buffer: \"total\", value: 0), launch(kernel: \"sum\", grid: [\"ceil_div(n, 256)\"], block: [256])],";
    let text = vectors(
        sums,
        "sum(const float* x, float* total, long long n)",
        "    atomicAdd(&total[0], x[0]);\n",
    );
    refused("vector-sum", "private-counts", &text, "counters of a whole type");
    let scratch = "scratch: [(name: \"many\", dtype: u32, shape: [\"n\"], init: zero_each_launch)],
    steps: [launch(kernel: \"count\", args: [\"x\", \"many\", \"n: i64\"], grid: [1], block: [32]),
            launch(kernel: \"count\", args: [\"x\", \"counts\", \"n: i64\"], grid: [1], block: [32])],";
    let text = vectors(scratch, COUNTS, "    atomicAdd(&counts[x[0]], 1u);\n");
    refused("histogram", "private-counts", &text, "`length of counts` may be 4294967295");
}

/// The tiles of a product, with what differs between forms of writing it.
fn tiled(sum: &str) -> String {
    format!(
        "    __shared__ float left_tile[PARAM_TILE][PARAM_TILE + 1];
    __shared__ float right_tile[PARAM_TILE][PARAM_TILE];
    for (int tile_first = 0; tile_first < k; tile_first += PARAM_TILE) {{
        {{
            const int tile_line = threadIdx.y;
            const int tile_step = threadIdx.x;
            const int y = static_cast<int>(blockIdx.y) * PARAM_TILE + tile_line;
            const int j = tile_first + tile_step;
            left_tile[tile_line][tile_step] = y < m && j < k ? a[y * k + j] : 0.0f;
        }}
        {{
            const int tile_line = threadIdx.x;
            const int tile_step = threadIdx.y;
            const int x = static_cast<int>(blockIdx.x) * PARAM_TILE + tile_line;
            const int j = tile_first + tile_step;
            right_tile[tile_step][tile_line] = x < n && j < k ? b[j * n + x] : 0.0f;
        }}
        __syncthreads();
#pragma unroll
        for (int tile_step = 0; tile_step < PARAM_TILE; ++tile_step) {{
            {sum}
        }}
        __syncthreads();
    }}
"
    )
}

#[test]
fn a_product_goes_by_tiles_however_it_is_written() {
    let places = "    const int x = static_cast<int>(blockIdx.x) * PARAM_TILE + threadIdx.x;
    const int y = static_cast<int>(blockIdx.y) * PARAM_TILE + threadIdx.y;
";
    let launch = [
        ("\"SIDE\": [8, 16]", "\"TILE\": [32, 16, 8]"),
        ("ceil_div(n, 32)", "ceil_div(n, TILE)"),
        ("ceil_div(m, SIDE)", "ceil_div(m, TILE)"),
        ("[32, \"SIDE\"]", "[\"TILE\", \"TILE\"]"),
    ];
    let (left, right) = ("left_tile[threadIdx.y][tile_step]", "right_tile[tile_step][threadIdx.x]");
    let forms = [
        ("s += a[y * k + j] * b[j * n + x];", format!("s += {left} * {right};")),
        ("s = s + b[j * n + x] * a[y * k + j];", format!("s = s + {right} * {left};")),
        ("s = fmaf(a[y * k + j], b[j * n + x], s);", format!("s = fmaf({left}, {right}, s);")),
    ];
    for (written, made) in forms {
        let head = format!("{PLACES}    if (y >= m || x >= n) return;\n");
        let work = format!("    for (int j = 0; j < k; ++j) {{\n        {written}\n    }}\n");
        let last = "    c[y * n + x] = s;\n";
        let text = vectors(PRODUCT, MATRICES, &format!("{head}    float s = 0.0f;\n{work}{last}"));
        let rest = "    if (y < m && x < n) {\n        c[y * n + x] = s;\n    }\n";
        let tiles = tiled(&made);
        let code = [(head.as_str(), places), (work.as_str(), tiles.as_str()), (last, rest)];
        check("sgemm", "shared-tiles", 0, &text, &[launch.as_slice(), &code].concat());
    }
}

#[test]
fn a_product_that_tiles_cannot_make_is_left() {
    let check = |body: &str, expected: &str| {
        for id in ["shared-tiles", "register-tiles"] {
            refused("sgemm", id, &vectors(PRODUCT, MATRICES, body), expected);
        }
    };
    let kernel = |guard: &str, work: &str| {
        format!(
            "{PLACES}    {guard}\n    float s = 0.0f;\n    for (int j = 0; j < k; ++j) {{ {work} }}\n    c[y * n + x] = s;\n"
        )
    };
    let guard = "if (y >= m || x >= n) return;";
    let product = "s += a[y * k + j] * b[j * n + x];";
    check("    c[0] = a[0];\n", "there is no loop in a launched kernel that adds up products");
    check(&kernel("", product), "guards that hold both places");
    check(&kernel("if (y >= m || x >= n || x == 3) return;", product), "found `x == 3`");
    check(&kernel("if (y >= m || x >= n - 1) return;", product), "with the end that the guard has");
    check(&kernel(guard, "s += a[y * k + j] * b[y * n + j];"), "one by the column");
    check(&kernel(guard, "s += c[y * k + j] * b[j * n + x];"), "expected an input tensor");
    check(&kernel(guard, &format!("if (j == 9) break; {product}")), "there is no loop");
    check(
        &kernel("if (y >= m || x >= n) return;\n    if (threadIdx.x == 3) c[0] = 1;", product),
        "`threadIdx.x` is also used as `threadIdx.x == 3`",
    );
    check(
        &kernel("if (y >= m || x >= n) return;\n    c[0] = 1;", product),
        "nothing but guards and constants before the loop",
    );
    let flat = "steps: [launch(kernel: \"product\", grid: [\"ceil_div(n, 32)\"], block: [32])],";
    let text = vectors(flat, MATRICES, &kernel(guard, product).replace("PARAM_SIDE", "8"));
    refused("sgemm", "shared-tiles", &text, "in a launch of two dimensions");
}

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
        "softmax-f32",
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
            refused("softmax-f32", id, &vectors(ROWS, SOFT, body), expected);
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
        "softmax-f32",
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
    let project = sample("softmax-f32");
    let found = rewrites(&project, &kernel(&project, &own), "vector-access").unwrap();
    assert_eq!(found[0].what, "`p` moves 16 bytes at a time in the loop of line 13");
    // Neighbouring lanes in different rows would leave elements out.
    let apart = text("threadIdx.x % 32", "blockIdx.x * 2 + threadIdx.x / 16");
    refused("softmax-f32", "vector-access", &apart, "some threads may not get to the loop");
    let whole = text("threadIdx.x % 16", "blockIdx.x * 2 + threadIdx.x / 32");
    refused("softmax-f32", "vector-access", &whole, "from the thread by the warp, block or grid");
}
