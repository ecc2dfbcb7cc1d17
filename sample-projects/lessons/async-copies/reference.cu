/*@ lightbench(
    title: "Reference: one thread per row, in f64",
    steps: [
        launch(kernel: "shifted_reference", args: ["x", "y", "y.magnitude", "rows"],
               grid: ["ceil_div(rows, 32)"], block: [32]),
    ],
) @*/

__global__ void shifted_reference(const float* x, double* y, double* magnitude, int rows) {
    const int row = blockIdx.x * 32 + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const float* values = x + row * 1024LL;
    double largest = values[0];
    for (int i = 1; i < 1024; ++i) {
        largest = fmax(largest, static_cast<double>(values[i]));
    }
    for (int i = 0; i < 1024; ++i) {
        y[row * 1024LL + i] = values[i] - largest;
        magnitude[row * 1024LL + i] = fabs(static_cast<double>(values[i])) + fabs(largest);
    }
}
