/*@ lightbench(
    title: "One thread per row, three passes",
    params: { "BLOCK": [64, 32, 128, 256] },
    steps: [
        launch(kernel: "softmax<PARAM_BLOCK>", grid: ["ceil_div(rows, BLOCK)"], block: ["BLOCK"]),
    ],
) @*/

// The definition, written down: find the maximum, add up the exponentials, divide. Neighbouring threads
// stand in neighbouring rows, so a warp's load touches 32 lines for 128 useful bytes.

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
softmax(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
    const long long row = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const float* x_row = x + row * cols;
    float* y_row = y + row * cols;

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
