//! What rules make of small kernels: the text afterwards is the one before but for what is listed.

use super::{applied, sample, vectors};

/// One launch with a parameter for its block.
const TUNED: &str = "params: { \"BLOCK\": [256, 128] },
    steps: [launch(kernel: \"add\", grid: [\"ceil_div(n, BLOCK)\"], block: [\"BLOCK\"])],";
const FIXED: &str = "steps: [launch(kernel: \"add\", grid: [\"ceil_div(n, 256)\"], block: [256])],";
const ONE_BLOCK: &str =
    "steps: [launch(kernel: \"add\", args: [\"a\", \"c\", \"n\"], grid: [1], block: [256])],";
const PLAIN: &str = "add(const float* a, const float* b, float* c, long long n)";
const TWO: &str = "add(const float* __restrict__ a, float* __restrict__ c, int n)";
const INDEX: &str = "    const long long i = blockIdx.x * 256LL + threadIdx.x;\n";

/// The n-th place of a rule replaces `changes` in this order and leaves everything else.
#[track_caller]
pub(super) fn check(project: &str, id: &str, place: usize, text: &str, changes: &[(&str, &str)]) {
    let mut expected = String::new();
    let mut rest = text;
    for (old, new) in changes {
        let at = rest.find(old).unwrap_or_else(|| panic!("`{old}` is not in `{rest}`"));
        expected += &rest[..at];
        expected += new;
        rest = &rest[at + old.len()..];
    }
    expected += rest;
    let made = applied(&sample(project), text, id, place);
    assert_eq!(made, expected, "\n--- made\n{made}\n--- expected\n{expected}");
}

#[test]
fn pointers_are_promised_to_share_nothing() {
    let body = format!("{INDEX}    if (i < n) {{ c[i] = a[i] + b[i]; }}\n");
    check(
        "vector-add",
        "restrict",
        0,
        &vectors(FIXED, PLAIN, &body),
        &[
            ("float* a", "float* __restrict__ a"),
            ("float* b", "float* __restrict__ b"),
            ("float* c", "float* __restrict__ c"),
        ],
    );
    let mutable = "add(float *a, float* b, float* c, long long n)";
    check(
        "vector-add",
        "restrict",
        0,
        &vectors(FIXED, mutable, &body),
        &[
            ("float *a", "const float *__restrict__ a"),
            ("float* b", "const float* __restrict__ b"),
            ("float* c", "float* __restrict__ c"),
        ],
    );
}

#[test]
fn single_accesses_get_hints() {
    let body = format!("{INDEX}    if (i < n) {{ c[i] = a[i] + b[i] * b[i]; }}\n");
    let text = vectors(FIXED, PLAIN, &body);
    check(
        "vector-add",
        "read-only-loads",
        1,
        &text,
        &[("b[i] *", "__ldg(&b[i]) *"), ("b[i]", "__ldg(&b[i])")],
    );
    check("vector-add", "streamed-loads", 0, &text, &[("a[i]", "__ldcs(&a[i])")]);
    check(
        "vector-add",
        "streamed-stores",
        0,
        &text,
        &[("c[i] = a[i] + b[i] * b[i];", "__stcs(&c[i], a[i] + b[i] * b[i]);")],
    );
}

#[test]
fn loops_are_unrolled_by_a_parameter() {
    let body = "    for (int i = threadIdx.x; i < n; i += 256) { c[i] = a[i]; }\n";
    check(
        "vector-add",
        "unroll",
        0,
        &vectors(ONE_BLOCK, TWO, body),
        &[
            ("\"a test\"", "\"a test\",\n    params: { \"UNROLL\": [4, 2, 8, 1] }"),
            ("    for", "#pragma unroll PARAM_UNROLL\n    for"),
        ],
    );
    let body = format!("#pragma unroll 16\n{body}");
    check(
        "vector-add",
        "unroll",
        0,
        &vectors(ONE_BLOCK, TWO, &body),
        &[
            ("\"a test\"", "\"a test\",\n    params: { \"UNROLL\": [16, 4, 2, 8, 1] }"),
            ("unroll 16", "unroll PARAM_UNROLL"),
        ],
    );
}

#[test]
fn the_compiler_is_told_of_the_block() {
    let body = format!("{INDEX}    if (i < n) {{ c[i] = a[i] + b[i]; }}\n");
    check(
        "vector-add",
        "launch-bounds",
        0,
        &vectors(TUNED, PLAIN, &body),
        &[("void add", "void __launch_bounds__(PARAM_BLOCK) add")],
    );
    check(
        "vector-add",
        "launch-bounds",
        0,
        &vectors(FIXED, PLAIN, &body),
        &[("void add", "void __launch_bounds__(256) add")],
    );
    let bounded = format!("__launch_bounds__(PARAM_BLOCK) {PLAIN}");
    check(
        "vector-add",
        "resident-blocks",
        0,
        &vectors(TUNED, &bounded, &body),
        &[
            (
                "[256, 128] }",
                "[256, 128], \"MIN_BLOCKS\": [2, 1, 4, 8] },\n    require: [\"BLOCK * MIN_BLOCKS <= 2048 or MIN_BLOCKS == 1\"]",
            ),
            ("(PARAM_BLOCK)", "(PARAM_BLOCK, PARAM_MIN_BLOCKS)"),
        ],
    );
}

#[test]
fn a_block_of_a_number_becomes_a_parameter() {
    let body = format!("{INDEX}    if (i < n) {{ c[i] = a[i] + b[i]; }}\n");
    let bounded = format!("__launch_bounds__(256) {PLAIN}");
    check(
        "vector-add",
        "block-parameter",
        0,
        &vectors(FIXED, &bounded, &body),
        &[
            ("\"a test\"", "\"a test\",\n    params: { \"BLOCK\": [256, 128, 64, 512, 1024] }"),
            ("ceil_div(n, 256)", "ceil_div(n, BLOCK)"),
            ("[256]", "[\"BLOCK\"]"),
            ("(256)", "(PARAM_BLOCK)"),
            ("256LL", "static_cast<long long>(PARAM_BLOCK)"),
        ],
    );
    check(
        "vector-add",
        "more-block-sizes",
        0,
        &vectors(TUNED, PLAIN, &body),
        &[("[256, 128]", "[256, 128, 64, 512]")],
    );
}

#[test]
fn a_thread_gets_several_elements() {
    let start = "long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x";
    let index = format!("    const {start};\n");
    let stride = "static_cast<long long>(gridDim.x) * blockDim.x";
    let blocks = [
        ("[256, 128] }", "[256, 128], \"ITEMS\": [4, 2, 8, 16] }"),
        ("ceil_div(n, BLOCK)", "ceil_div(ceil_div(n, BLOCK), ITEMS)"),
        (index.as_str(), ""),
    ];
    let head = format!("for ({start}; i < n; i += {stride})");
    let body = format!("{index}    if (i < n) {{\n        c[i] = a[i] + b[i];\n    }}\n");
    let guarded = [blocks.as_slice(), &[("if (i < n)", head.as_str())]].concat();
    check("vector-add", "grid-stride", 0, &vectors(TUNED, PLAIN, &body), &guarded);
    let body = format!(
        "{index}    if (i >= n) return;\n    if (i == 3) {{\n        return;\n    }}\n    c[i] = a[i] + b[i];\n"
    );
    let opened = format!("{head} {{");
    let returning = [
        blocks.as_slice(),
        &[
            ("if (i >= n) return;", opened.as_str()),
            (
                "    if (i == 3) {\n        return;\n    }\n    c",
                "        if (i == 3) {\n            continue;\n        }\n        c",
            ),
            ("b[i];\n", "b[i];\n    }\n"),
        ],
    ]
    .concat();
    check("vector-add", "grid-stride", 0, &vectors(TUNED, PLAIN, &body), &returning);
}

#[test]
fn an_axis_becomes_a_constant() {
    let body = format!("{INDEX}    if (i < n) {{ c[i] = a[i] + b[i]; }}\n");
    check(
        "vector-add",
        "axis-constant",
        0,
        &vectors(FIXED, PLAIN, &body),
        &[
            ("\"a test\"", "\"a test\",\n    constants: [\"n\"]"),
            ("long long n)", "long long)"),
            ("{\n", "{\n    constexpr long long n = axis::n;\n"),
        ],
    );
}

#[test]
fn arithmetic_gets_cheaper_one_place_at_a_time() {
    let body = "    const float y = expf(a[0]) / sqrtf(a[1]);\n    c[0] = 1.0f / sqrtf(y) + logf(y) * 0.5;\n";
    let text = vectors(ONE_BLOCK, TWO, body);
    let check = |id: &str, place: usize, changes: &[(&str, &str)]| {
        check("vector-add", id, place, &text, changes);
    };
    check("fast-functions", 0, &[("expf", "__expf")]);
    check("fast-functions", 1, &[("logf", "__logf")]);
    check(
        "fast-division",
        0,
        &[("expf(a[0]) / sqrtf(a[1])", "__fdividef(expf(a[0]), sqrtf(a[1]))")],
    );
    check("reciprocal-root", 0, &[("1.0f / sqrtf", "rsqrtf")]);
    check("single-literals", 0, &[("0.5", "0.5f")]);
    check(
        "arithmetic-flags",
        0,
        &[("block: [256])]", "block: [256])],\n    flags: [prec_div(false)]")],
    );
    check(
        "register-limit",
        0,
        &[
            (
                "\"a test\"",
                "\"a test\",\n    params: { \"REGISTERS\": [64, 48, 40, 32, 80, 96, 128, 255] }",
            ),
            ("block: [256])]", "block: [256])],\n    flags: [maxrregcount(\"REGISTERS\")]"),
        ],
    );
}

#[test]
fn what_a_loop_divides_by_is_inverted_before_it() {
    let body = "    const float sum = a[0] + a[1];
    for (int i = threadIdx.x; i < n; i += 256) {
        c[i] = a[i] / sum;
    }
";
    check(
        "vector-add",
        "reciprocal",
        0,
        &vectors(ONE_BLOCK, TWO, body),
        &[
            ("    for", "    const float sum_reciprocal = 1.0f / sum;\n    for"),
            ("/ sum", "* sum_reciprocal"),
        ],
    );
}

#[test]
fn shared_rows_are_padded() {
    let body = "    __shared__ float tile[32][32];
    tile[threadIdx.x / 32][threadIdx.x % 32] = a[threadIdx.x];
    c[threadIdx.x] = tile[threadIdx.x % 32][threadIdx.x / 32];
";
    check(
        "vector-add",
        "pad-shared",
        0,
        &vectors(ONE_BLOCK, TWO, body),
        &[("[32]", "[32]"), ("32", "32 + 1")],
    );
}

#[test]
fn indices_and_divisions_become_narrow_where_axes_permit_it() {
    let block = "params: { \"BLOCK\": [64] },
    steps: [launch(kernel: \"soft\", grid: [\"rows\"], block: [\"BLOCK\"])],";
    let signature = "soft(const float* x, float* y, long long rows, long long cols)";
    let body = "    const float* x_row = x + blockIdx.x * cols;
    for (long long col = threadIdx.x; col < cols; col += PARAM_BLOCK) {
        y[blockIdx.x * cols + col] = x_row[col % rows];
    }
";
    let text = vectors(block, signature, body);
    check(
        "softmax",
        "narrow-index",
        0,
        &text,
        &[("for (long long col", "for (int col"), ("col < cols", "col < static_cast<int>(cols)")],
    );
    check(
        "softmax",
        "narrow-division",
        0,
        &text,
        &[(
            "col % rows",
            "static_cast<long long>(static_cast<unsigned int>(col) % static_cast<unsigned int>(rows))",
        )],
    );
}

#[test]
fn a_tree_ends_in_shuffles() {
    let body = "    __shared__ float part[256];
    part[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    c[0] = part[0];
";
    check(
        "vector-add",
        "warp-reduction",
        0,
        &vectors(ONE_BLOCK, TWO, body),
        &[
            ("s > 0", "s >= 32"),
            (
                "__syncthreads();\n    }\n",
                "__syncthreads();\n    }
    if (threadIdx.x < 32) {
        float warp_value = part[threadIdx.x];
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) {
            warp_value += __shfl_down_sync(0xffffffffu, warp_value, distance);
        }
        if (threadIdx.x == 0) {
            part[0] = warp_value;
        }
    }
    __syncthreads();
",
            ),
        ],
    );
}

#[test]
fn loops_collect_into_several_variables() {
    let body = "    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 256) {
        sum += a[i];
    }
    c[threadIdx.x] = sum;
";
    check(
        "vector-add",
        "several-accumulators",
        0,
        &vectors(ONE_BLOCK, TWO, body),
        &[(
            "    for (int i = threadIdx.x; i < n; i += 256) {
        sum += a[i];
    }
",
            "    {
        float sum_2 = 0.0f;
        int i = threadIdx.x;
        for (; i < n - 256; i += 2 * 256) {
            {
                sum += a[i];
            }
            {
                sum_2 += a[(i + 256)];
            }
        }
        for (; i < n; i += 256) {
            sum += a[i];
        }
        sum += sum_2;
    }
",
        )],
    );
}

#[test]
fn loops_move_vectors_and_a_tail() {
    let body = "    for (int i = threadIdx.x; i < n; i += 256) {
        c[i] = a[i] + i;
    }
";
    let vector =
        "template <typename T>\nstruct __align__(16) Vector16 {\n    T at[16 / sizeof(T)];\n};\n\n";
    let global = format!("{vector}__global__");
    check("vector-add", "vector-access", 0, &vectors(ONE_BLOCK, TWO, body), &[
        ("__global__", &global),
        (
            "    for (int i = threadIdx.x; i < n; i += 256) {\n        c[i] = a[i] + i;\n    }\n",
            "    {
        const int vectors = (reinterpret_cast<unsigned long long>(a) | reinterpret_cast<unsigned long long>(c)) % 16 == 0 ? n / 4 : 0;
        for (int vector = threadIdx.x; vector < vectors; vector += 256) {
            const int i = vector * 4;
            const Vector16<float> a_vector = *reinterpret_cast<const Vector16<float>*>(a + i);
            Vector16<float> c_vector;
#pragma unroll
            for (int lane = 0; lane < 4; ++lane) {
                c_vector.at[lane] = a_vector.at[lane] + (i + lane);
            }
            *reinterpret_cast<Vector16<float>*>(c + i) = c_vector;
        }
        for (int i = vectors * 4 + threadIdx.x; i < n; i += 256) {
            c[i] = a[i] + i;
        }
    }
",
        ),
    ]);
}
