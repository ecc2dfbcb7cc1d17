/*@ lightbench(
    title: "Leaves its counter where it ended",
    expect: wrong(state_dependent),
    scratch: [
        (name: "partial", dtype: f32, shape: ["ceil_div(n, 256)"], init: undefined),
        (name: "blocks_done", dtype: u32, shape: ["1"], init: zero_once),
    ],
    steps: [
        launch(kernel: "vector_sum", args: ["x", "total", "n", "partial", "blocks_done"],
               grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

// The mistake: `atomicAdd` where `last-block` has `atomicInc`. The counter is zero before the first launch only, and
// nobody sets it back.
// How it shows: the first launch is right. In the second no block is the last one, so the total keeps the value of
// the first: the right one, as long as x is the same.

__global__ void vector_sum(const float* __restrict__ x, float* __restrict__ total, long long n, float* partial,
                           unsigned int* blocks_done) {
    __shared__ float values[256];
    __shared__ bool is_last;
    const long long index = blockIdx.x * 256LL + threadIdx.x;
    values[threadIdx.x] = index < n ? x[index] : 0.0f;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int thread = 0; thread < 256; ++thread) {
            sum += values[thread];
        }
        partial[blockIdx.x] = sum;
        __threadfence();
        is_last = atomicAdd(blocks_done, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        float sum = 0.0f;
        for (int block = 0; block < gridDim.x; ++block) {
            sum += partial[block];
        }
        *total = sum;
    }
}
