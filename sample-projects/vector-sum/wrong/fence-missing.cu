/*@ lightbench(
    title: "Counts itself done before its sum has arrived",
    expect: fault(data_race),
    scratch: [
        (name: "partial", dtype: f32, shape: ["ceil_div(n, 256)"], init: undefined),
        (name: "blocks_done", dtype: u32, shape: ["1"], init: zero_each_launch),
    ],
    steps: [
        launch(kernel: "vector_sum", args: ["x", "total", "n", "partial", "blocks_done"],
               grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

// The mistake: no `__threadfence()` between the partial sum and the counter. The counter is an atomic, but an atomic
// orders nothing except itself: another block may see the count before it sees the sum.
// How it shows: almost never. The two writes leave the same thread in order and usually arrive in order.

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
        is_last = atomicAdd(blocks_done, 1u) == gridDim.x - 1;
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
