/*@ lightbench(
    title: "A tree in shared memory, one atomic per block",
    params: { "BLOCK": [256, 128, 512, 1024] },
    steps: [
        fill(buffer: "total", value: 0),
        launch(kernel: "vector_sum<PARAM_BLOCK>", grid: ["ceil_div(n, BLOCK)"], block: ["BLOCK"]),
    ],
) @*/

// The tree of every textbook: each thread brings one element, and half of the threads add the other half until one
// is left. Blocks cannot wait for each other, so each adds its sum to the total with an atomic, in whatever order
// they finish: run it twice, and the last bits may differ.

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
vector_sum(const float* __restrict__ x, float* __restrict__ total, long long n) {
    __shared__ float partial[BLOCK];
    const long long index = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x;
    partial[threadIdx.x] = index < n ? x[index] : 0.0f;
    __syncthreads();
    for (int stride = BLOCK / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) {
            partial[threadIdx.x] += partial[threadIdx.x + stride];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        atomicAdd(total, partial[0]);
    }
}
