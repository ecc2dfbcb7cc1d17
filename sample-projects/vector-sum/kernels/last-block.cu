/*@ lightbench(
    title: "One launch: the last block to finish adds up the others",
    params: { "BLOCK": [256, 128, 512, 1024], "BLOCKS_PER_SM": [8, 4, 2, 16] },
    require: ["BLOCK * BLOCKS_PER_SM <= 4096"],
    scratch: [
        (name: "partial", dtype: f32, shape: ["min(ceil_div(n, 4 * BLOCK), BLOCKS_PER_SM * device.sms)"],
         init: undefined),
        (name: "blocks_done", dtype: u32, shape: ["1"], init: zero_once),
    ],
    steps: [
        launch(kernel: "vector_sum<PARAM_BLOCK>", args: ["x", "total", "n", "partial", "blocks_done"],
               grid: ["min(ceil_div(n, 4 * BLOCK), BLOCKS_PER_SM * device.sms)"], block: ["BLOCK"]),
    ],
) @*/

// Against `two-pass`: the same fixed order, without the second launch. Blocks cannot wait for each other, but one
// of them finishes last, and an atomic counter tells which. That block sees all partial sums, if each writer puts a
// fence between its partial sum and the counter, and the reader another behind the counter.
//
// `atomicInc` starts again from zero after `gridDim.x` calls, so the counter is ready for the next launch.

__device__ float warp_sum(float value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    }
    return value;
}

// The sum over all threads of the block, returned to each of them. A barrier must stand between two
// calls: without it the second overwrites `warp_sums` while slow threads still read the first result.
template <int BLOCK>
__device__ float block_sum(float value) {
    __shared__ float warp_sums[BLOCK / 32];
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0) {
        warp_sums[threadIdx.x / 32] = value;
    }
    __syncthreads();
    float sum = 0.0f;
#pragma unroll
    for (int warp = 0; warp < BLOCK / 32; ++warp) {
        sum += warp_sums[warp];
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
vector_sum(const float* __restrict__ x, float* __restrict__ total, long long n, float* partial,
           unsigned int* blocks_done) {
    __shared__ bool is_last;
    float sum = block_sum<BLOCK>(thread_sum<BLOCK>(x, n));
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        is_last = atomicInc(blocks_done, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!is_last) {
        return;
    }
    float mine = 0.0f;
    for (int index = threadIdx.x; index < gridDim.x; index += BLOCK) {
        // Volatile: past whatever L1 holds from before the fence.
        mine += *reinterpret_cast<const volatile float*>(partial + index);
    }
    sum = block_sum<BLOCK>(mine);
    if (threadIdx.x == 0) {
        *total = sum;
    }
}
