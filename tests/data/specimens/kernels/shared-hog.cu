/*@ lightbench(
    title: "Much shared memory for few threads",
    steps: [launch(kernel: "turn", grid: ["8 * device.sms"], block: [128])],
) @*/
__global__ void turn(const float* __restrict__ x, float* __restrict__ y, int n) {
    __shared__ float tile[10240];
    for (int i = threadIdx.x; i < 10240; i += 128) {
        tile[i] = x[i];
    }
    __syncthreads();
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) {
        y[i] = tile[i % 10240];
    }
}
