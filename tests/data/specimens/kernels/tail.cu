/*@ lightbench(
    title: "A few blocks more than fit at once",
    steps: [launch(kernel: "scale", grid: ["2 * device.sms + 6"], block: [1024])],
) @*/
__global__ void __launch_bounds__(1024, 2) scale(const float* __restrict__ x, float* __restrict__ y, int n) {
    for (int i = blockIdx.x * 1024 + threadIdx.x; i < n; i += gridDim.x * 1024) {
        y[i] = 2.0f * x[i];
    }
}
