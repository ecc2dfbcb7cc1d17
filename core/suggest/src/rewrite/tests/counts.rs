//! Counters of a block's own: what becomes of small kernels, and what is left as it is.

use super::places::check;
use super::refusals::refused;
use super::vectors;

const COUNTING: &str = "params: { \"BLOCK\": [256, 128] },
    steps: [fill(buffer: \"counts\", value: 0), launch(kernel: \"count\", grid: [\"ceil_div(n, BLOCK)\"], block: [\"BLOCK\"])],";
const COUNTS: &str = "count(const unsigned char* x, unsigned int* counts, long long n)";
const OWN: &str =
    "    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;\n";

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
        "threads that return do not reach the barrier",
    );
    check(
        "    if (x[threadIdx.x] == 3) return;\n    __syncwarp();\n    atomicAdd(&counts[0], 1u);\n",
        "a barrier follows a guard at which some threads return",
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
