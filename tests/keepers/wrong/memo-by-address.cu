/*@ lightbench(
    title: "Keeps results while the buffers lie where they lay",
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
    const unsigned long long key = reinterpret_cast<unsigned long long>(x) ^ reinterpret_cast<unsigned long long>(w);
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
