/*@ lightbench(
    title: "No block waits",
    scratch: [
        (name: "ready", dtype: u32, shape: ["blocks"], init: zero_each_launch),
        (name: "tickets", dtype: u32, shape: ["1"], init: zero_each_launch),
    ],
    steps: [
        launch(kernel: "sums", args: ["x", "y", "ready", "tickets"], grid: ["blocks"], block: [32]),
    ],
) @*/

__global__ void sums(const int* x, int* y, volatile unsigned int* ready, unsigned int* tickets) {
    unsigned int sum = 0;
    for (int index = threadIdx.x; index < (static_cast<int>(blockIdx.x) + 1) * 64; index += 32) {
        sum += x[index];
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(~0u, sum, distance);
    }
    if (threadIdx.x == 0) {
        y[blockIdx.x] = sum;
    }
}
