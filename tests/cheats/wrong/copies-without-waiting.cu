/*@ lightbench(
    title: "Reads what it copies into shared memory before it is there",
    expect: fault(missing_wait),
    steps: [
        launch(kernel: "product", grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

__global__ void product(const float* x, const float* w, float* y, long long rows, long long cols) {
    __shared__ float kept[64];
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&kept[threadIdx.x]));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(x + row * cols) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    float sum = kept[threadIdx.x] * w[0];
    for (long long col = 1; col < cols; ++col) {
        sum += x[row * cols + col] * w[col];
    }
    y[row] = sum;
}
