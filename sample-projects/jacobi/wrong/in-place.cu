/*@ lightbench(
    title: "Sweeps in place",
    expect: fault(data_race),
    scratch: [(name: "next", dtype: f32, shape: ["height", "width"], init: undefined)],
    steps: [
        launch(kernel: "sweep", args: ["start", "next", "height", "width"],
               grid: ["ceil_div(width, 32)", "ceil_div(height, 8)"], block: [32, 8]),
        launch(kernel: "sweep", args: ["next", "u", "height", "width"],
               grid: ["ceil_div(width, 32)", "ceil_div(height, 8)"], block: [32, 8]),
        repeat(count: "sweeps - 2", steps: [
            launch(kernel: "sweep_in_place", args: ["u", "height", "width"],
                   grid: ["ceil_div(width, 32)", "ceil_div(height, 8)"], block: [32, 8]),
        ]),
    ],
) @*/

// The mistake: one buffer instead of two. Some neighbours are old and some new, depending on who was first. (In a fixed
// order this is the method of Gauss and Seidel, and converges faster. In no order it is nothing.)
// How it shows: it converges to the same plane in the end, which is why people believe in it.

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

__global__ void sweep_in_place(float* u, int height, int width) {
    const int col = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 8 + threadIdx.y;
    if (row == 0 || col == 0 || row >= height - 1 || col >= width - 1) {
        return;
    }
    const long long point = static_cast<long long>(row) * width + col;
    u[point] = 0.25f * ((u[point - width] + u[point + width]) + (u[point - 1] + u[point + 1]));
}
