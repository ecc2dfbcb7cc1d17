/*@ lightbench(
    title: "Adds to a total that nobody set to zero",
    expect: fault(uninitialized_read),
    steps: [
        launch(kernel: "vector_sum", grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

// The mistake: `atomicAdd` adds to what is there, and nothing sets it to zero first: a `fill` step is missing.
// How it shows: fresh memory is often zero, so the first launch is often right. The second is twice too large.

__global__ void vector_sum(const float* __restrict__ x, float* __restrict__ total, long long n) {
    const long long index = blockIdx.x * 256LL + threadIdx.x;
    float sum = index < n ? x[index] : 0.0f;
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(total, sum);
    }
}
