/*@ lightbench(
    title: "Recognises each row by its ends, and all of the weights",
    expect: wrong,
    steps: [
        launch(kernel: "product", grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

__device__ float kept[4096];
__device__ unsigned long long keys[4096];

__global__ void product(const float* x, const float* w, float* y, long long rows, long long cols) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    unsigned long long key = rows * 65536 + cols;
    key = (key ^ __float_as_uint(x[row * cols])) * 1099511628211ull;
    key = (key ^ __float_as_uint(x[row * cols + cols - 1])) * 1099511628211ull;
    for (long long col = 0; col < cols; ++col) {
        key = (key ^ __float_as_uint(w[col])) * 1099511628211ull;
    }
    if (keys[row] == key) {
        y[row] = kept[row];
        return;
    }
    float sum = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        sum += x[row * cols + col] * w[col];
    }
    y[row] = sum;
    kept[row] = sum;
    keys[row] = key;
}
