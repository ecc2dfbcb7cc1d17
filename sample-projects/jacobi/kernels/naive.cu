/*@ lightbench(
    title: "One thread per point, one launch per sweep",
    params: { "ROWS": [8, 4, 16] },
    scratch: [(name: "next", dtype: f32, shape: ["height", "width"], init: undefined)],
    steps: [
        launch(kernel: "copy<PARAM_ROWS>",
               grid: ["ceil_div(width, 32)", "ceil_div(height, ROWS)"], block: [32, "ROWS"]),
        repeat(count: "sweeps", swap: [("u", "next")], steps: [
            launch(kernel: "sweep<PARAM_ROWS>", args: ["u", "next", "height", "width"],
                   grid: ["ceil_div(width, 32)", "ceil_div(height, ROWS)"], block: [32, "ROWS"]),
        ]),
    ],
) @*/

// A point needs its neighbours as they were before the sweep, so a sweep reads one buffer and writes another, and then
// the two change places. The end of a launch is where all blocks wait for each other. After an even number of sweeps
// the result is in `u` again.

template <int ROWS>
__global__ void __launch_bounds__(32 * ROWS)
copy(const float* __restrict__ start, float* __restrict__ u, int height, int width) {
    const int col = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * ROWS + threadIdx.y;
    if (row < height && col < width) {
        const long long point = static_cast<long long>(row) * width + col;
        u[point] = start[point];
    }
}

template <int ROWS>
__global__ void __launch_bounds__(32 * ROWS)
sweep(const float* __restrict__ from, float* __restrict__ to, int height, int width) {
    const int col = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * ROWS + threadIdx.y;
    if (row >= height || col >= width) {
        return;
    }
    const long long point = static_cast<long long>(row) * width + col;
    if (row == 0 || col == 0 || row == height - 1 || col == width - 1) {
        to[point] = from[point];
        return;
    }
    to[point] = 0.25f * ((from[point - width] + from[point + width]) + (from[point - 1] + from[point + 1]));
}
