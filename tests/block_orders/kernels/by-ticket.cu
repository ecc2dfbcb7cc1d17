/*@ lightbench(
    title: "Each block waits for the block that started before it",
    scratch: [
        (name: "ready", dtype: u32, shape: ["blocks"], init: zero_each_launch),
        (name: "tickets", dtype: u32, shape: ["1"], init: zero_each_launch),
    ],
    steps: [
        launch(kernel: "sums", args: ["x", "y", "ready", "tickets"], grid: ["blocks"], block: [32]),
    ],
) @*/

__global__ void sums(const int* x, int* y, volatile unsigned int* ready, unsigned int* tickets) {
    int tile = 0;
    if (threadIdx.x == 0) {
        tile = atomicAdd(tickets, 1u);
    }
    tile = __shfl_sync(~0u, tile, 0);
    unsigned int sum = x[tile * 64 + threadIdx.x] + x[tile * 64 + 32 + threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(~0u, sum, distance);
    }
    if (threadIdx.x > 0) {
        return;
    }
    if (tile > 0) {
        while (ready[tile - 1] == 0) {
        }
        __threadfence();
        sum += static_cast<volatile int*>(y)[tile - 1];
    }
    static_cast<volatile int*>(y)[tile] = sum;
    __threadfence();
    ready[tile] = 1;
}
