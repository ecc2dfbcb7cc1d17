// LayerNorm of f16 rows with scale and shift: two passes over a row in registers, sums in f32, pairs of halves.
#include <cuda_fp16.h>

constexpr int kThreads = 128;
constexpr int kMaxPairsPerThread = 4;

template <typename T>
__device__ __forceinline__ T warpReduceSum(T val) {
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) val += __shfl_xor_sync(0xffffffff, val, mask, 32);
    return val;
}

template <typename T>
__device__ __forceinline__ T blockReduceSum(T val) {
    static __shared__ T shared[32];
    const int lane = threadIdx.x & 0x1f, wid = threadIdx.x >> 5;
    val = warpReduceSum<T>(val);
    if (lane == 0) shared[wid] = val;
    __syncthreads();
    val = (threadIdx.x < (blockDim.x >> 5)) ? shared[lane] : (T)0.0f;
    val = warpReduceSum<T>(val);
    return val;
}

extern "C" __global__ void __launch_bounds__(kThreads)
layernorm_f16(const half2* __restrict__ input, const half2* __restrict__ gamma, const half2* __restrict__ beta, half2* __restrict__ output, int pairs, float eps) {
    __shared__ float s_mean, s_variance;
    float2 local[kMaxPairsPerThread];
    const int row = blockIdx.x;
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < kMaxPairsPerThread; ++i) {
        const int at = threadIdx.x + i * kThreads;
        if (at < pairs) {
            local[i] = __half22float2(__ldg(&input[row * pairs + at]));
            sum += local[i].x + local[i].y;
        }
    }
    sum = blockReduceSum<float>(sum);
    if (threadIdx.x == 0) s_mean = sum / (2 * pairs);
    __syncthreads();
    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < kMaxPairsPerThread; ++i) {
        if (threadIdx.x + i * kThreads < pairs) {
            float2 d = make_float2(local[i].x - s_mean, local[i].y - s_mean);
            squares += d.x * d.x + d.y * d.y;
        }
    }
    squares = blockReduceSum<float>(squares);
    if (threadIdx.x == 0) s_variance = rsqrtf(squares / (2 * pairs) + eps);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kMaxPairsPerThread; ++i) {
        const int at = threadIdx.x + i * kThreads;
        if (at < pairs) {
            float2 g = __half22float2(gamma[at]), b = __half22float2(beta[at]);
            float2 y = make_float2((local[i].x - s_mean) * s_variance * g.x + b.x, (local[i].y - s_mean) * s_variance * g.y + b.y);
            output[row * pairs + at] = __float22half2_rn(y);
        }
    }
}
