/*@ lightbench(
    title: "Reference: one thread for each row, in f64",
    steps: [
        launch(kernel: "row_sums", args: ["offsets", "values", "y", "y.magnitude", "rows: i64", "nnz: i64"], grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

__global__ void row_sums(const int* offsets, const float* values, double* y, double* magnitude, long long rows,
                         long long nnz) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    double sum = 0.0;
    double absolute = 0.0;
    for (int place = offsets[row]; place < offsets[row + 1]; ++place) {
        const double value = values[place];
        sum += value;
        absolute += fabs(value);
    }
    y[row] = sum;
    magnitude[row] = absolute;
}
