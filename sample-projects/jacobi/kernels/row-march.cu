/*@ lightbench(
    title: "Each thread walks down a column, three rows in registers",
    params: { "ROWS": [16, 8, 32, 64], "BLOCK": [128, 64, 256] },
    scratch: [(name: "next", dtype: f32, shape: ["height", "width"], init: undefined)],
    steps: [
        launch(kernel: "sweep<PARAM_ROWS, PARAM_BLOCK>", args: ["start", "next", "height", "width"],
               grid: ["ceil_div(width, BLOCK)", "ceil_div(height, ROWS)"], block: ["BLOCK"]),
        launch(kernel: "sweep<PARAM_ROWS, PARAM_BLOCK>", args: ["next", "u", "height", "width"],
               grid: ["ceil_div(width, BLOCK)", "ceil_div(height, ROWS)"], block: ["BLOCK"]),
        repeat(count: "sweeps - 2", swap: [("u", "next")], steps: [
            launch(kernel: "sweep<PARAM_ROWS, PARAM_BLOCK>", args: ["u", "next", "height", "width"],
                   grid: ["ceil_div(width, BLOCK)", "ceil_div(height, ROWS)"], block: ["BLOCK"]),
        ]),
    ],
) @*/

// Against `naive`: a thread takes ROWS points below each other. What was below is the middle of the next point and then
// what is above it, so a point costs three loads (below, left and right) instead of four, and the index is computed
// once. The first sweep reads `start` itself: no copy.

template <int ROWS, int BLOCK>
__global__ void __launch_bounds__(BLOCK)
sweep(const float* __restrict__ from, float* __restrict__ to, int height, int width) {
    const int col = blockIdx.x * BLOCK + threadIdx.x;
    if (col >= width) {
        return;
    }
    const int first = blockIdx.y * ROWS;
    const int last = min(first + ROWS, height);
    const bool on_side = col == 0 || col == width - 1;
    long long point = static_cast<long long>(first) * width + col;
    float above = first > 0 ? from[point - width] : 0.0f;
    float middle = from[point];
#pragma unroll 4
    for (int row = first; row < last; ++row) {
        const float below = row + 1 < height ? from[point + width] : 0.0f;
        const bool on_border = on_side || row == 0 || row == height - 1;
        to[point] = on_border ? middle : 0.25f * ((above + below) + (from[point - 1] + from[point + 1]));
        above = middle;
        middle = below;
        point += width;
    }
}
