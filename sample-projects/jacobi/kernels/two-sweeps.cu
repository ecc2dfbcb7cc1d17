/*@ lightbench(
    title: "Two sweeps per launch, on tiles with a margin",
    params: { "TILE_ROWS": [32, 16, 64], "BLOCK_ROWS": [8, 4, 16] },
    scratch: [(name: "next", dtype: f32, shape: ["height", "width"], init: undefined)],
    steps: [
        launch(kernel: "two_sweeps<PARAM_TILE_ROWS, PARAM_BLOCK_ROWS>", args: ["start", "next", "height", "width"],
               grid: ["ceil_div(width, 64)", "ceil_div(height, TILE_ROWS)"], block: [32, "BLOCK_ROWS"]),
        launch(kernel: "two_sweeps<PARAM_TILE_ROWS, PARAM_BLOCK_ROWS>", args: ["next", "u", "height", "width"],
               grid: ["ceil_div(width, 64)", "ceil_div(height, TILE_ROWS)"], block: [32, "BLOCK_ROWS"]),
        repeat(count: "sweeps // 2 - 2", swap: [("u", "next")], steps: [
            launch(kernel: "two_sweeps<PARAM_TILE_ROWS, PARAM_BLOCK_ROWS>", args: ["u", "next", "height", "width"],
                   grid: ["ceil_div(width, 64)", "ceil_div(height, TILE_ROWS)"], block: [32, "BLOCK_ROWS"]),
        ]),
    ],
) @*/

// Against `row-march`: the plane travels to memory and back once for two sweeps. A block loads a tile with a margin of
// two points, sweeps it in shared memory to get the tile with a margin of one, and sweeps that into the result. The
// margin is computed by several blocks: some 10 % more arithmetic for half of the bytes and half of the launches.

constexpr int tile_cols = 64;
constexpr int stride = tile_cols + 4;

template <int TILE_ROWS, int BLOCK_ROWS>
__global__ void __launch_bounds__(32 * BLOCK_ROWS)
two_sweeps(const float* __restrict__ from, float* __restrict__ to, int height, int width) {
    __shared__ float before[TILE_ROWS + 4][stride];
    __shared__ float between[TILE_ROWS + 4][stride];
    // Of the margin: element (0, 0) of both arrays is this point of the plane.
    const int first_row = static_cast<int>(blockIdx.y) * TILE_ROWS - 2;
    const int first_col = static_cast<int>(blockIdx.x) * tile_cols - 2;

    for (int row = threadIdx.y; row < TILE_ROWS + 4; row += BLOCK_ROWS) {
        for (int col = threadIdx.x; col < stride; col += 32) {
            const int y = first_row + row;
            const int x = first_col + col;
            const bool inside = y >= 0 && y < height && x >= 0 && x < width;
            // Points outside the plane are never used; zeros keep the code free of branches.
            before[row][col] = inside ? from[static_cast<long long>(y) * width + x] : 0.0f;
        }
    }
    __syncthreads();
    const auto swept = [&](const float (&plane)[TILE_ROWS + 4][stride], int row, int col) {
        const int y = first_row + row;
        const int x = first_col + col;
        const bool is_fixed = y <= 0 || x <= 0 || y >= height - 1 || x >= width - 1;
        return is_fixed ? plane[row][col]
                        : 0.25f * ((plane[row - 1][col] + plane[row + 1][col]) +
                                   (plane[row][col - 1] + plane[row][col + 1]));
    };
    for (int row = 1 + threadIdx.y; row < TILE_ROWS + 3; row += BLOCK_ROWS) {
        for (int col = 1 + threadIdx.x; col < stride - 1; col += 32) {
            between[row][col] = swept(before, row, col);
        }
    }
    __syncthreads();
    for (int row = 2 + threadIdx.y; row < TILE_ROWS + 2; row += BLOCK_ROWS) {
        for (int col = 2 + threadIdx.x; col < stride - 2; col += 32) {
            const int y = first_row + row;
            const int x = first_col + col;
            if (y < height && x < width) {
                to[static_cast<long long>(y) * width + x] = swept(between, row, col);
            }
        }
    }
}
