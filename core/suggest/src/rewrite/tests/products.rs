//! Products by tiles: what becomes of small kernels, and what is left as it is.

use super::places::check;
use super::refusals::refused;
use super::vectors;

const PRODUCT: &str = "params: { \"SIDE\": [8, 16] },
    steps: [launch(kernel: \"product\", grid: [\"ceil_div(n, 32)\", \"ceil_div(m, SIDE)\"], block: [32, \"SIDE\"])],";
const MATRICES: &str = "product(const float* a, const float* b, float* c, int m, int n, int k)";
const PLACES: &str = "    const int x = blockIdx.x * 32 + threadIdx.x;
    const int y = blockIdx.y * PARAM_SIDE + threadIdx.y;
";

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
