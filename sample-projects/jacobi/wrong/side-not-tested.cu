/*@ lightbench(
    title: "Takes the plane to go on at its sides",
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
    ],
) @*/

// The mistake: only the first and the last row are taken for the border. The left neighbour of a point in column 0 is
// the last point of the row above.
// How it shows: the left and right side change, and after n sweeps everything within n points of them.

__global__ void sweep(const float* __restrict__ from, float* __restrict__ to, int height, int width) {
    const int col = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 8 + threadIdx.y;
    if (row >= height || col >= width) {
        return;
    }
    const long long point = static_cast<long long>(row) * width + col;
    const bool is_fixed = row == 0 || row == height - 1;
    to[point] = is_fixed ? from[point]
                         : 0.25f * ((from[point - width] + from[point + width]) + (from[point - 1] + from[point + 1]));
}
