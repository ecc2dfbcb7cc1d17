//! What rules leave as it is, and what they say is missing.

use super::{kernel, rewrites, sample, vectors};

const ONE_BLOCK: &str =
    "steps: [launch(kernel: \"add\", args: [\"a\", \"c\", \"n\"], grid: [1], block: [256])],";
const TWICE: &str =
    "steps: [launch(kernel: \"add\", args: [\"c\", \"c\", \"n\"], grid: [1], block: [256])],";
const TWO: &str = "add(const float* a, float* c, long long n)";

/// A rule, the body of a kernel, and what the rule says of it.
const CASES: &[(&str, &str, &str)] = &[
    (
        "restrict",
        "    const float* p = a;\n    float* q = c;\n    q[0] = p[0];\n",
        "line 6: `a` is also used as `* p = a`",
    ),
    ("unroll", "    c[0] = a[0];\n", "there is no loop in a launched kernel"),
    (
        "unroll",
        "#pragma unroll\n    for (int i = 0; i < 4; ++i) { c[i] = a[i]; }\n",
        "already has a say",
    ),
    (
        "streamed-stores",
        "    c[0] = a[0];\n    c[1] = c[0];\n",
        "`c` is also used as `c[1] = c[0]`",
    ),
    ("streamed-loads", "    c[0] = a[0] + a[1];\n", "2 loads of a"),
    ("read-only-loads", "    c[1] = c[0];\n", "expected an input tensor, which no kernel writes"),
    (
        "grid-stride",
        "    c[threadIdx.x] = a[0];\n",
        "found `1`; expected a grid that grows with the axes",
    ),
    ("block-parameter", "    c[threadIdx.x] = a[n / 256];\n", "`256` is also used as `n / 256`"),
    (
        "block-parameter",
        "    __shared__ float all[256];\n    all[threadIdx.x] = a[0];\n    c[0] = all[0];\n",
        "how much is needed may depend on the block",
    ),
    (
        "narrow-index",
        "    for (long long i = 0; i < n; ++i) { c[i] = a[i]; }\n",
        "`n` may be 8589934592; the rule needs at most 2147483647",
    ),
    ("narrow-division", "    c[0] = a[n / threadIdx.x];\n", "line 7"),
    (
        "reciprocal",
        "    for (int i = 0; i < 4; ++i) { c[i] = 1.0f / a[i]; }\n",
        "a divisor that the loop does not change",
    ),
    (
        "reciprocal",
        "    for (int i = 0; i < 4; ++i) { c[i] = a[i] / 3.0f; }\n",
        "already has a value when it is compiled",
    ),
    ("fast-functions", "    c[0] = exp(n);\n", "expected arguments that are f32 for certain"),
    (
        "pad-shared",
        "    __shared__ float t[8][33];\n    t[0][0] = a[0];\n    c[0] = t[0][0];\n",
        "`t` already has rows of an odd number of elements",
    ),
    (
        "pad-shared",
        "    __shared__ float t[8][32];\n    float* p = &t[0][0];\n    c[0] = p[0];\n",
        "`t` is also used as",
    ),
    (
        "pad-shared",
        "    __shared__ float t[384][32];\n    t[0][0] = a[0];\n    c[0] = t[0][0];\n",
        "the rule needs at most 49152",
    ),
    (
        "several-accumulators",
        "    float s = 0;\n    for (int i = 0; i < n; ++i) { s += a[i]; if (s > 3) break; }\n    c[0] = s;\n",
        "constants, and then one sum",
    ),
    (
        "vector-access",
        "    for (int i = 0; i < n; ++i) { c[i] = a[2 * i]; c[0] = 1; }\n",
        "an input at the counter",
    ),
    (
        "vector-access",
        "    float s = 0;\n    for (int i = 0; i < n; ++i) { if (i < 3) { s += a[i]; } }\n    c[0] = s;\n",
        "an input at the counter",
    ),
    (
        "vector-access",
        "    if (threadIdx.x < 100)\n        for (int i = threadIdx.x; i < n; i += 256) { c[i] = a[i]; }\n",
        "expected a loop in a block",
    ),
    (
        "vector-access",
        "    if (threadIdx.x < 100) {\n        for (int i = threadIdx.x; i < n; i += 256) { c[i] = a[i]; }\n    }\n",
        "some threads may not reach the loop",
    ),
    (
        "warp-reduction",
        "    __shared__ float t[256];\n    for (int s = 128; s > 0; s /= 2) {\n        if (threadIdx.x < s) t[threadIdx.x] += t[threadIdx.x + s];\n        __syncthreads();\n    }\n    c[0] = t[0];\n",
        "a stride that begins with half of the block",
    ),
    ("single-literals", "    c[0] = 0.5;\n", "expected an f32 operand beside the literal"),
];

/// What is wrong with what a rule says of a kernel with this body; empty if it says what is expected.
fn fault(id: &str, block: &str, body: &str, expected: &str) -> String {
    let project = sample("vector-add");
    let kernel = kernel(&project, &vectors(block, TWO, body));
    match rewrites(&project, &kernel, id) {
        Ok(found) => format!("{id} applies: {found:?}\n{body}\n"),
        Err(why) if why.to_string().contains(expected) => String::new(),
        Err(why) => format!("{id}: {why}; expected {expected}\n"),
    }
}

#[test]
fn a_rule_that_does_not_apply_says_what_is_missing_and_where() {
    let faults: String =
        CASES.iter().map(|(id, body, expected)| fault(id, ONE_BLOCK, body, expected)).collect();
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn what_may_be_the_same_memory_is_told_apart() {
    let body = "    c[0] = a[0];\n";
    for id in ["restrict", "read-only-loads"] {
        assert_eq!(fault(id, TWICE, body, "`a` and `c` may be the same memory"), "");
    }
}

/// What a rule says of a kernel that it leaves as it is.
#[track_caller]
pub(super) fn refused(project: &str, id: &str, text: &str, expected: &str) {
    let project = sample(project);
    match rewrites(&project, &kernel(&project, text), id) {
        Ok(found) => panic!("{id} applies: {found:?}\n{text}"),
        Err(why) => assert!(why.to_string().contains(expected), "{id}: {why}\n{text}"),
    }
}
