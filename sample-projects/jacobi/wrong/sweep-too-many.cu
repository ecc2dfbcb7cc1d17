/*@ lightbench(
    title: "One sweep too many",
    expect: wrong(numeric),
    scratch: [(name: "next", dtype: f32, shape: ["height", "width"], init: undefined)],
    steps: [
        launch(kernel: "sweep", args: ["start", "next", "height", "width"],
               grid: ["ceil_div(width, 32)", "ceil_div(height, 8)"], block: [32, 8]),
        launch(kernel: "sweep", args: ["next", "u", "height", "width"],
               grid: ["ceil_div(width, 32)", "ceil_div(height, 8)"], block: [32, 8]),
        repeat(count: "sweeps - 2", swap: [("u", "next")], steps: [
            launch(kernel: "sweep", args: ["u", "next", "height", "width"],
                   grid: ["ceil_div(width, 32)", "ceil_div(height, 8)"], block: [32, 8]),
        ]),
        launch(kernel: "sweep", args: ["u", "next", "height", "width"],
               grid: ["ceil_div(width, 32)", "ceil_div(height, 8)"], block: [32, 8]),
        launch(kernel: "copy", args: ["next", "u", "height", "width"],
               grid: ["ceil_div(width, 32)", "ceil_div(height, 8)"], block: [32, 8]),
    ],
) @*/

// The mistake: a last sweep `to be sure`.
// How it shows: after hundreds of sweeps one more changes little, and whoever compares with a tolerance of a percent
// does not see it.

__global__ void sweep(const float* __restrict__ from, float* __restrict__ to, int height, int width) {
    const int col = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 8 + threadIdx.y;
    if (row >= height || col >= width) {
        return;
    }
    const long long point = static_cast<long long>(row) * width + col;
    const bool is_fixed = row == 0 || col == 0 || row == height - 1 || col == width - 1;
    to[point] = is_fixed ? from[point]
                         : 0.25f * ((from[point - width] + from[point + width]) + (from[point - 1] + from[point + 1]));
}

__global__ void copy(const float* __restrict__ from, float* __restrict__ to, int height, int width) {
    const int col = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 8 + threadIdx.y;
    if (row < height && col < width) {
        to[static_cast<long long>(row) * width + col] = from[static_cast<long long>(row) * width + col];
    }
}
