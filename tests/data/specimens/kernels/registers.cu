/*@ lightbench(
    title: "Sixty-four values in registers",
    steps: [launch(kernel: "differences", grid: ["device.sms"], block: [256])],
) @*/
constexpr int values = 64;

__global__ void __launch_bounds__(256)
differences(const float* __restrict__ x, float* __restrict__ y, int n) {
    const int threads = gridDim.x * 256;
    const int first = blockIdx.x * 256 + threadIdx.x;
    if (first + (values - 1) * threads >= n) {
        return;
    }
    float own[values];
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < values; ++k) {
        own[k] = x[first + k * threads];
        sum += own[k];
    }
#pragma unroll
    for (int k = 0; k < values; ++k) {
        y[first + k * threads] = own[k] - sum;
    }
}
