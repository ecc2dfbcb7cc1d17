/*@ lightbench(
    title: "Adds up one warp of each block",
    expect: wrong(numeric),
    steps: [
        fill(buffer: "total", value: 0),
        launch(kernel: "vector_sum", grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

// The mistake: written for blocks of one warp, launched with eight. The shuffles stay inside a warp, and only
// thread 0 of the block adds its result.
// How it shows: up to 32 elements it is right. Beyond, seven eighths of x are missing.

__global__ void vector_sum(const float* __restrict__ x, float* __restrict__ total, long long n) {
    const long long index = blockIdx.x * 256LL + threadIdx.x;
    float sum = index < n ? x[index] : 0.0f;
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    if (threadIdx.x == 0) {
        atomicAdd(total, sum);
    }
}
