/*@ lightbench(
    title: "Forgets that there is nothing below the last row",
    expect: fault(out_of_bounds),
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

// The mistake: the comparison with the last row is missing.
// How it shows: the last row reads the row behind the end of the plane, and moves.

__global__ void sweep(const float* __restrict__ from, float* __restrict__ to, int height, int width) {
    const int col = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 8 + threadIdx.y;
    if (row >= height || col >= width) {
        return;
    }
    const long long point = static_cast<long long>(row) * width + col;
    const bool is_fixed = row == 0 || col == 0 || col == width - 1;
    to[point] = is_fixed ? from[point]
                         : 0.25f * ((from[point - width] + from[point + width]) + (from[point - 1] + from[point + 1]));
}
