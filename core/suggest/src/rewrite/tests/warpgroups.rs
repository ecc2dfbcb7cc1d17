//! Products of 16-bit matrices by warpgroups: what becomes of small kernels, and what is left as it is.

use super::refusals::refused;
use super::{applied, sample, vectors};

const BLOCK: &str = "steps: [launch(kernel: \"product\", grid: [\"ceil_div(n, 32)\", \"ceil_div(m, 8)\"], block: [32, 8])],";
const MATRICES: &str = "product(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k)";
const PLACES: &str = "    const int x = blockIdx.x * 32 + threadIdx.x;
    const int y = blockIdx.y * 8 + threadIdx.y;
    if (y >= m || x >= n) return;
";
const STORE: &str = "    c[y * n + x] = __float2bfloat16(s);\n";

fn kernel(before: &str, sum: &str, work: &str) -> String {
    let body =
        format!("{PLACES}{before}    {sum}\n    for (int j = 0; j < k; ++j) {{ {work} }}\n{STORE}");
    vectors(BLOCK, MATRICES, &body)
}

#[track_caller]
fn check(text: &str) {
    let made = applied(&sample("hgemm"), text, "warpgroup-tiles", 0);
    let code = "__global__ void __launch_bounds__(128 * PARAM_GROUPS + 32) product(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k,
                        const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map) {
    if (!warpgroup_tiles::multiply(a_map, b_map, k)) {
        return;
    }
#pragma unroll 8
    for (int own = 0; own < PARAM_COLUMNS / 2; ++own) {
        const int y = static_cast<int>(blockIdx.y) * (64 * PARAM_GROUPS) + warpgroup_tiles::row(own);
        const int x = static_cast<int>(blockIdx.x) * PARAM_COLUMNS + warpgroup_tiles::column(own);
        if (y < m && x < n) {
            float s = warpgroup_tiles::sum(own);
            c[y * n + x] = __float2bfloat16(s);
        }
    }
}
";
    assert!(made.ends_with(code), "--- made\n{made}\n--- expected\n{code}");
    for expected in [
        "params: { \"GROUPS\": [2, 1], \"COLUMNS\": [128, 256, 64], \"STAGES\": [4, 3, 6] }",
        "arch: specific",
        "(name: \"a_map\", tensor: \"a\", shape: [\"m\", \"k\"], box: [\"64 * GROUPS\", 64], swizzle: b128)",
        "(name: \"b_map\", tensor: \"b\", shape: [\"n\", \"k\"], box: [\"COLUMNS\", 64], swizzle: b128)",
        "args: [\"a\", \"b\", \"c\", \"m\", \"n\", \"k\", \"a_map\", \"b_map\"]",
        "grid: [\"ceil_div(n, COLUMNS)\", \"ceil_div(m, 64 * GROUPS)\"], block: [\"128 * GROUPS + 32\"]",
        ".f32.bf16.bf16",
    ] {
        assert!(made.contains(expected), "{expected}\n{made}");
    }
}

#[test]
fn a_product_of_rows_goes_to_warpgroups_however_it_is_written() {
    let sum = "float s = 0.0f;";
    for work in [
        "s += __bfloat162float(a[y * k + j]) * __bfloat162float(b[x * k + j]);",
        "s = fmaf(static_cast<float>(a[y * k + j]), (float)b[j + k * x], s);",
        "s = float(b[x * k + j]) * float(a[(y * k) + j]) + s;",
        "const float l = a[y * k + j]; const float r = b[x * k + j]; s += l * r;",
    ] {
        check(&kernel("", sum, work));
    }
    let rows = "    const __nv_bfloat16* p = a + y * k;\n    const __nv_bfloat16* q = b + static_cast<long long>(x) * k;\n";
    check(&kernel(rows, sum, "s += __bfloat162float(p[j]) * __bfloat162float(q[j]);"));
}

#[test]
fn a_product_that_warpgroups_cannot_make_is_left() {
    let check = |before: &str, sum: &str, work: &str, expected: &str| {
        refused("hgemm", "warpgroup-tiles", &kernel(before, sum, work), expected);
    };
    let sum = "float s = 0.0f;";
    let product = "s += __bfloat162float(a[y * k + j]) * __bfloat162float(b[x * k + j]);";
    check("", "float s = 1.0f;", product, "a sum of f32 that begins with 0");
    check("", "double s = 0.0;", product, "a sum of f32 that begins with 0");
    // Rounded to bf16 after each product, or to integers before it.
    check("", sum, "s += a[y * k + j] * b[x * k + j];", "a product of two values of f32");
    check(
        "",
        sum,
        "s += static_cast<int>(a[y * k + j]) * static_cast<float>(b[x * k + j]);",
        "a product of two values of f32",
    );
    for load in ["b[j * n + x]", "b[x * n + j]", "b[x * k + j + 1]", "b[x * k + 2 * j]"] {
        let work = format!("s += __bfloat162float(a[y * k + j]) * __bfloat162float({load});");
        check("", sum, &work, "rows that follow each other in memory");
    }
    let other = "    const __nv_bfloat16* q = b + 8;\n";
    let work = "s += __bfloat162float(a[y * k + j]) * __bfloat162float(q[x * k + j]);";
    check(other, sum, work, "rows that follow each other in memory");
    let shared = BLOCK.replace("block: [32, 8]", "block: [32, 8], shared: 64");
    let text = kernel("", sum, product).replace(BLOCK, &shared);
    refused("hgemm", "warpgroup-tiles", &text, "dynamic shared memory of its own");
}
