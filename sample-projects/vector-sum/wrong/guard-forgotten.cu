/*@ lightbench(
    title: "Every block is full",
    expect: fault(out_of_bounds),
    steps: [
        fill(buffer: "total", value: 0),
        launch(kernel: "vector_sum", grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

// The mistake: no comparison with n, because the grid was rounded up 'to fit'.
// How it shows: the last block adds whatever lies behind x. Padding full of zeros, which allocators like to
// leave there, makes it right.

__global__ void vector_sum(const float* __restrict__ x, float* __restrict__ total, long long n) {
    const long long index = blockIdx.x * 256LL + threadIdx.x;
    float sum = x[index];
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(total, sum);
    }
}
