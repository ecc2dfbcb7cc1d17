/*@ lightbench(
    title: "Changes an input and puts it back",
    expect: fault(input_modified),
    steps: [
        launch(kernel: "product", grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

__global__ void product(const float* x, const float* w, float* y, long long rows, long long cols) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float* mine = const_cast<float*>(x) + row * cols;
    const float old = atomicExch(mine, 0.0f);
    atomicExch(mine, old);
    float sum = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        sum += x[row * cols + col] * w[col];
    }
    y[row] = sum;
}
