/*@ lightbench(
    title: "Writes the inner points only",
    expect: fault(uninitialized_read),
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
    ],
) @*/

// The mistake: the border stays, so nobody writes it: but there are two buffers, and neither of them has ever had it.
// How it shows: the second sweep reads whatever the new buffer held. Where that happens to be zero, and the border too,
// it is right.

__global__ void sweep(const float* __restrict__ from, float* __restrict__ to, int height, int width) {
    const int col = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 8 + threadIdx.y;
    if (row >= height || col >= width) {
        return;
    }
    const long long point = static_cast<long long>(row) * width + col;
    if (row == 0 || col == 0 || row == height - 1 || col == width - 1) {
        return;
    }
    to[point] = 0.25f * ((from[point - width] + from[point + width]) + (from[point - 1] + from[point + 1]));
}
