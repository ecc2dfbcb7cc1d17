/*@ lightbench(
    title: "Two launches: partial sums, then their sum",
    params: { "BLOCK": [256, 128, 512, 1024], "BLOCKS_PER_SM": [8, 4, 2, 16] },
    require: ["BLOCK * BLOCKS_PER_SM <= 4096"],
    scratch: [(name: "partial", dtype: f32, shape: ["min(ceil_div(n, 4 * BLOCK), BLOCKS_PER_SM * device.sms)"],
               init: undefined)],
    steps: [
        launch(kernel: "partial_sums<PARAM_BLOCK>", args: ["x", "partial", "n"],
               grid: ["min(ceil_div(n, 4 * BLOCK), BLOCKS_PER_SM * device.sms)"], block: ["BLOCK"]),
        launch(kernel: "total_sum<PARAM_BLOCK>",
               args: ["partial", "total", "min(ceil_div(n, 4 * BLOCK), BLOCKS_PER_SM * device.sms): i32"],
               grid: [1], block: ["BLOCK"]),
    ],
) @*/

// Against `warp-shuffle`: no atomic, so the order of all additions is fixed by the grid alone, and the result is the
// same bits on every run. The price is a second launch, which on 1 GiB is lost in the noise and on 6 MiB is not.

__device__ float warp_sum(float value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    }
    return value;
}

// The sum over all threads of the block, returned to each of them. Call it once per kernel: a second call would
// overwrite `partial` while slow threads still read the first result.
template <int BLOCK>
__device__ float block_sum(float value) {
    __shared__ float partial[BLOCK / 32];
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0) {
        partial[threadIdx.x / 32] = value;
    }
    __syncthreads();
    float sum = 0.0f;
#pragma unroll
    for (int warp = 0; warp < BLOCK / 32; ++warp) {
        sum += partial[warp];
    }
    return sum;
}

// What one thread adds up on its own: 16-byte vectors in steps of the whole grid, two of them under way at a time
// with a sum each, so that neither load nor addition waits for the one before. The last n % 4 elements are taken
// by the first threads of the grid.
template <int BLOCK>
__device__ float thread_sum(const float* __restrict__ x, long long n) {
    const float4* vectors = reinterpret_cast<const float4*>(x);
    const long long count = n / 4;
    const long long stride = static_cast<long long>(gridDim.x) * BLOCK;
    const long long thread = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x;
    float even = 0.0f;
    float odd = 0.0f;
    long long index = thread;
    for (; index + stride < count; index += 2 * stride) {
        const float4 first = vectors[index];
        const float4 second = vectors[index + stride];
        even += (first.x + first.y) + (first.z + first.w);
        odd += (second.x + second.y) + (second.z + second.w);
    }
    if (index < count) {
        const float4 last = vectors[index];
        even += (last.x + last.y) + (last.z + last.w);
    }
    if (thread < n % 4) {
        odd += x[4 * count + thread];
    }
    return even + odd;
}

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
partial_sums(const float* __restrict__ x, float* __restrict__ partial, long long n) {
    const float sum = block_sum<BLOCK>(thread_sum<BLOCK>(x, n));
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
}

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
total_sum(const float* __restrict__ partial, float* __restrict__ total, int count) {
    float mine = 0.0f;
    for (int index = threadIdx.x; index < count; index += BLOCK) {
        mine += partial[index];
    }
    const float sum = block_sum<BLOCK>(mine);
    if (threadIdx.x == 0) {
        *total = sum;
    }
}
