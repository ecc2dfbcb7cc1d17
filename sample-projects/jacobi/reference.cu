/*@ lightbench(
    title: "Reference: one thread per point and sweep, in f64",
    scratch: [
        (name: "even", dtype: f64, shape: ["height", "width"], init: undefined),
        (name: "odd", dtype: f64, shape: ["height", "width"], init: undefined),
        (name: "even_magnitude", dtype: f64, shape: ["height", "width"], init: undefined),
        (name: "odd_magnitude", dtype: f64, shape: ["height", "width"], init: undefined),
    ],
    steps: [
        launch(kernel: "widen", args: ["start", "even", "even_magnitude", "height", "width"],
               grid: ["ceil_div(width, 32)", "ceil_div(height, 4)"], block: [32, 4]),
        repeat(count: "sweeps", swap: [("even", "odd"), ("even_magnitude", "odd_magnitude")], steps: [
            launch(kernel: "sweep", args: ["even", "even_magnitude", "odd", "odd_magnitude", "height", "width"],
                   grid: ["ceil_div(width, 32)", "ceil_div(height, 4)"], block: [32, 4]),
        ]),
        launch(kernel: "deliver", args: ["even", "even_magnitude", "u", "u.magnitude", "height", "width"],
               grid: ["ceil_div(width, 32)", "ceil_div(height, 4)"], block: [32, 4]),
    ],
) @*/

// The magnitude of a point is the mean of the absolute values that it is made of: the same sweeps over |start|.
__global__ void widen(const float* start, double* plane, double* magnitude, int height, int width) {
    const int col = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 4 + threadIdx.y;
    if (row < height && col < width) {
        const long long point = static_cast<long long>(row) * width + col;
        plane[point] = start[point];
        magnitude[point] = fabs(static_cast<double>(start[point]));
    }
}

__global__ void sweep(const double* from, const double* from_magnitude, double* to, double* to_magnitude, int height,
                      int width) {
    const int col = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 4 + threadIdx.y;
    if (row >= height || col >= width) {
        return;
    }
    const long long point = static_cast<long long>(row) * width + col;
    if (row == 0 || col == 0 || row == height - 1 || col == width - 1) {
        to[point] = from[point];
        to_magnitude[point] = from_magnitude[point];
        return;
    }
    to[point] = 0.25 * (from[point - width] + from[point - 1] + from[point + 1] + from[point + width]);
    to_magnitude[point] = 0.25 * (from_magnitude[point - width] + from_magnitude[point - 1] +
                                  from_magnitude[point + 1] + from_magnitude[point + width]);
}

__global__ void deliver(const double* plane, const double* plane_magnitude, double* u, double* magnitude, int height,
                        int width) {
    const int col = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 4 + threadIdx.y;
    if (row < height && col < width) {
        const long long point = static_cast<long long>(row) * width + col;
        u[point] = plane[point];
        magnitude[point] = plane_magnitude[point];
    }
}
