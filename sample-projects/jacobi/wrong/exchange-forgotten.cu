/*@ lightbench(
    title: "Never exchanges the buffers",
    expect: wrong(numeric),
    scratch: [(name: "next", dtype: f32, shape: ["height", "width"], init: undefined)],
    steps: [
        launch(kernel: "sweep", args: ["start", "next", "height", "width"],
               grid: ["ceil_div(width, 32)", "ceil_div(height, 8)"], block: [32, 8]),
        launch(kernel: "sweep", args: ["next", "u", "height", "width"],
               grid: ["ceil_div(width, 32)", "ceil_div(height, 8)"], block: [32, 8]),
        repeat(count: "sweeps - 2", steps: [
            launch(kernel: "sweep", args: ["u", "next", "height", "width"],
                   grid: ["ceil_div(width, 32)", "ceil_div(height, 8)"], block: [32, 8]),
        ]),
    ],
) @*/

// The mistake: the repetition has no `swap`, so every sweep reads the result of the second one and writes the third
// over itself.
// How it shows: u has had two sweeps, however many were asked for. A plane that is already smooth hardly changes.

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
