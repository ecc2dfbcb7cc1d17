/*@ lightbench(
    title: "Offsets of 32 bits",
    expect: fault(out_of_bounds),
    steps: [
        launch(kernel: "softmax", grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

// The mistake: the offset of a row is an `int`, and negative from element 2^31 on.
// How it shows: only with more than 8 GiB in each matrix.

__global__ void __launch_bounds__(64)
softmax(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
    const long long row = static_cast<long long>(blockIdx.x) * 64 + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const int offset = static_cast<int>(row) * static_cast<int>(cols);
    const float* x_row = x + offset;
    float* y_row = y + offset;

    float row_max = x_row[0];
    for (long long col = 1; col < cols; ++col) {
        row_max = fmaxf(row_max, x_row[col]);
    }

    // Compensated (Kahan) summation. One plain chain of up to 32,768 additions would lose every small term
    // that comes after a large one; the trees of the faster kernels do not have this problem.
    float sum = 0.0f;
    float lost = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        const float term = expf(x_row[col] - row_max) - lost;
        const float next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }

    for (long long col = 0; col < cols; ++col) {
        y_row[col] = expf(x_row[col] - row_max) / sum;
    }
}
