/*@ lightbench(
    title: "All blocks wait for all blocks",
    scratch: [
        (name: "ready", dtype: u32, shape: ["blocks"], init: zero_each_launch),
        (name: "tickets", dtype: u32, shape: ["1"], init: zero_each_launch),
    ],
    steps: [
        launch(kernel: "sums", args: ["x", "y", "ready", "tickets"], grid: ["blocks"], block: [32]),
    ],
) @*/

__global__ void sums(const int* x, int* y, volatile unsigned int* ready, unsigned int* tickets) {
    const int tile = blockIdx.x;
    unsigned int sum = x[tile * 64 + threadIdx.x] + x[tile * 64 + 32 + threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(~0u, sum, distance);
    }
    if (threadIdx.x > 0) {
        return;
    }
    static_cast<volatile unsigned int*>(ready)[tile] = sum;
    __threadfence();
    atomicAdd(tickets, 1u);
    while (*static_cast<volatile unsigned int*>(tickets) < gridDim.x) {
    }
    __threadfence();
    unsigned int all = 0;
    for (int before = 0; before <= tile; ++before) {
        all += ready[before];
    }
    y[tile] = all;
}
