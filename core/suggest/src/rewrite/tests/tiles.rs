//! Tiles between loads along one dimension and stores along the other.

use super::refusals::refused;
use super::{applied, sample, vectors};

const SQUARES: &str = "params: { \"SIDE\": [16, 8] },
    steps: [launch(kernel: \"turn\", grid: [\"ceil_div(cols, SIDE)\", \"ceil_div(rows, SIDE)\"], block: [\"SIDE\", \"SIDE\"])],";
const TURN: &str = "turn(const unsigned int* x, unsigned int* y, long long rows, long long cols)";
const PLACES: &str = "    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
";

#[track_caller]
fn tiled(id: &str, body: &str, launch: &str, code: &str) {
    let made = applied(&sample("transpose"), &vectors(SQUARES, TURN, body), id, 0);
    for expected in [launch, code] {
        assert!(made.contains(expected), "\n--- made\n{made}\n--- expected\n{expected}");
    }
}

const LAUNCH: &str = "params: { \"TILE_ROWS\": [8, 16, 4, 32] },
    steps: [launch(kernel: \"turn\", grid: [\"ceil_div(cols, 32) * ceil_div(rows, 32)\"], block: [32, \"TILE_ROWS\"])],";

#[test]
fn stores_along_the_other_dimension_go_through_a_tile() {
    let body = format!(
        "{PLACES}    const int one = 1;
    const long long to = c * rows + r;
    if (r < rows && c < cols) {{
        y[to] = x[r * cols + c] + one;
    }}
"
    );
    let code = "{
    const int one = 1;
    __shared__ unsigned int tile[32][33];
    const unsigned int tiles_of_row = static_cast<unsigned int>((cols + 31) / 32);
    const int first_r = static_cast<int>(blockIdx.x / tiles_of_row) * 32;
    const int first_c = static_cast<int>(blockIdx.x % tiles_of_row) * 32;
#pragma unroll
    for (int step = 0; step < 32; step += PARAM_TILE_ROWS) {
        const int r = first_r + threadIdx.y + step;
        const int c = first_c + threadIdx.x;
        if (r < rows && c < cols) {
            tile[threadIdx.y + step][threadIdx.x] = x[r * cols + c] + one;
        }
    }
    __syncthreads();
#pragma unroll
    for (int step = 0; step < 32; step += PARAM_TILE_ROWS) {
        const int r = first_r + threadIdx.x;
        const int c = first_c + threadIdx.y + step;
        if (r < rows && c < cols) {
            const long long to = c * rows + r;
            y[to] = tile[threadIdx.x][threadIdx.y + step];
        }
    }
}
";
    tiled("tiled-stores", &body, LAUNCH, code);
}

#[test]
fn loads_along_the_other_dimension_go_through_a_tile() {
    let body = "    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= rows) return;
    for (long long r = blockIdx.y * blockDim.y + threadIdx.y; r < cols; r += gridDim.y * blockDim.y) {
        y[r * rows + c] = x[c * cols + r];
    }
";
    let code = "
        if (r < cols && c < rows) {
            tile[threadIdx.x][threadIdx.y + step] = x[c * cols + r];
        }
    }
    __syncthreads();
#pragma unroll
    for (int step = 0; step < 32; step += PARAM_TILE_ROWS) {
        const long long r = first_r + threadIdx.y + step;
        const int c = first_c + threadIdx.x;
        if (r < cols && c < rows) {
            y[r * rows + c] = tile[threadIdx.y + step][threadIdx.x];
        }
    }
}
";
    let swapped = SQUARES.replace("ceil_div(cols, SIDE)", "ceil_div(rows, SIDE)");
    let made = applied(&sample("transpose"), &vectors(&swapped, TURN, body), "tiled-loads", 0);
    assert!(made.contains(code), "\n--- made\n{made}\n--- expected\n{code}");
}

#[test]
fn a_third_dimension_of_the_grid_stays() {
    let body = format!(
        "{PLACES}    if (r < rows && c < cols) {{ y[c * rows + r] = x[r * cols + c] + blockIdx.z; }}\n"
    );
    let batched = SQUARES.replace(", SIDE)\"],", ", SIDE)\", \"2\"],");
    let made = applied(&sample("transpose"), &vectors(&batched, TURN, &body), "tiled-stores", 0);
    let grid = "grid: [\"ceil_div(cols, 32) * ceil_div(rows, 32)\", 1, \"2\"]";
    assert!(made.contains(grid), "{made}");
}

#[test]
fn elements_that_no_tile_helps_are_left() {
    let check = |id: &str, body: &str, expected: &str| {
        refused("transpose", id, &vectors(SQUARES, TURN, &format!("{PLACES}{body}")), expected);
    };
    let guarded = |store: &str| format!("    if (r < rows && c < cols) {{ {store} }}\n");
    let turned = guarded("y[c * rows + r] = x[r * cols + c];");
    check("tiled-loads", &turned, "expected a store that grows by 1 along x");
    check(
        "tiled-stores",
        &guarded("y[r * cols + c] = x[r * cols + c];"),
        "expected loads along one dimension and a store along the other",
    );
    check(
        "tiled-stores",
        &guarded("y[c * rows + r] = y[0] + x[r * cols + c];"),
        "expected the only access to an output",
    );
    check(
        "tiled-stores",
        &guarded("y[c * rows + r] = x[r * cols + c]; y[0] = 1;"),
        "expected guards and loops of the place along x and along y, and one store",
    );
    check(
        "tiled-stores",
        "    y[c * rows + r] = x[r * cols + c];\n",
        "expected a place with an end",
    );
    check(
        "tiled-stores",
        "    if (r < rows && c < cols - 1) { y[c * rows + r] = x[r * cols + c]; }\n",
        "expected a grid of `ceil_div(end, block)`, or a loop up to an axis",
    );
    check(
        "tiled-stores",
        &guarded("y[c * rows + r] = x[r * cols + c] + threadIdx.x;"),
        "`threadIdx.x` is also used as",
    );
}
