/*@ lightbench(
    title: "Calls the driver's own function that launches kernels",
    expect: compile,
    steps: [
        launch(kernel: "product", grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

extern "C" __device__ int cudaLaunchDeviceV2(void* parameters, void* stream);

__global__ void product(const float* x, const float* w, float* y, long long rows, long long cols) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        sum += x[row * cols + col] * w[col];
    }
    if (row == 0) {
        cudaLaunchDeviceV2(nullptr, nullptr);
    }
    y[row] = sum;
}
