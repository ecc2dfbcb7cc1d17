/*@ lightbench(
    title: "Reference: one thread per row, in f64",
    steps: [
        launch(kernel: "spmv_reference", args: ["offsets", "indices", "values", "x", "y", "y.magnitude", "rows"],
               grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

__global__ void spmv_reference(const int* offsets, const int* indices, const float* values, const float* x, double* y,
                               double* magnitude, int rows) {
    const int row = blockIdx.x * 64 + threadIdx.x;
    if (row >= rows) {
        return;
    }
    double sum = 0.0;
    double absolute = 0.0;
    for (int place = offsets[row]; place < offsets[row + 1]; ++place) {
        const double term = static_cast<double>(values[place]) * static_cast<double>(x[indices[place]]);
        sum += term;
        absolute += fabs(term);
    }
    y[row] = sum;
    magnitude[row] = absolute;
}
