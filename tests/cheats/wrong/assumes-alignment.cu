/*@ lightbench(
    title: "Loads four numbers at once though addresses promise one",
    expect: fault(misaligned),
    steps: [
        launch(kernel: "product", grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

__global__ void product(const float* x, const float* w, float* y, long long rows, long long cols) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    long long col = 0;
    if (cols % 4 == 0) {
        for (; col < cols; col += 4) {
            const float4 left = *reinterpret_cast<const float4*>(x + row * cols + col);
            const float4 right = *reinterpret_cast<const float4*>(w + col);
            sum += left.x * right.x + left.y * right.y + left.z * right.z + left.w * right.w;
        }
    }
    for (; col < cols; ++col) {
        sum += x[row * cols + col] * w[col];
    }
    y[row] = sum;
}
