/*@ lightbench(
    title: "No barrier between two parts of a block",
    expect: fault(data_race),
    steps: [
        fill(buffer: "total", value: 0),
        launch(kernel: "vector_sum", grid: ["min(ceil_div(n, 16384), device.sms)"], block: [256]),
    ],
) @*/

// The mistake: the grid is as large as the GPU, and a block adds up several parts one after the other. When the first
// thread still reads the sums of the warps, other warps may write those of the next part.
// How it shows: not at all in a vector of fewer parts than there are multiprocessors, because then a block has one. On a
// GPU the first thread is nearly always fast enough.

__global__ void vector_sum(const float* __restrict__ x, float* __restrict__ total, long long n) {
    __shared__ float partial[8];
    for (long long first = blockIdx.x * 16384LL; first < n; first += gridDim.x * 16384LL) {
        float sum = 0.0f;
        for (int index = threadIdx.x; index < 16384 && first + index < n; index += 256) {
            sum += x[first + index];
        }
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_xor_sync(0xffffffffu, sum, distance);
        }
        if (threadIdx.x % 32 == 0) {
            partial[threadIdx.x / 32] = sum;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            float all = 0.0f;
            for (int warp = 0; warp < 8; ++warp) {
                all += partial[warp];
            }
            atomicAdd(total, all);
        }
    }
}
