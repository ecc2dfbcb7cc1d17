/*@ lightbench(
    title: "Keeps the first workload's outputs for all later ones",
    expect: wrong,
    steps: [
        launch(kernel: "product", grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

__device__ float kept[4096];
__device__ long long first_cols[4096];

__global__ void product(const float* x, const float* w, float* y, long long rows, long long cols) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        sum += x[row * cols + col] * w[col];
    }
    // Each thread has a place of its own, so that nothing races.
    if (first_cols[row] == 0) {
        first_cols[row] = cols;
        kept[row] = sum;
    }
    y[row] = first_cols[row] == cols ? sum : kept[row];
}
