/*@ lightbench(
    title: "A maximum of all elements but the last",
    expect: wrong(nan),
    steps: [
        launch(kernel: "softmax", grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

// The mistake: the loop of the maximum ends one element early. Any number near the maximum would do in its place, so
// that results are correct unless the last element is larger than all others by 88 or more: then expf overflows.

__global__ void softmax(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const float* x_row = x + row * cols;
    float* y_row = y + row * cols;

    float row_max = x_row[0];
    for (long long col = 1; col < cols - 1; ++col) {
        row_max = fmaxf(row_max, x_row[col]);
    }
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
