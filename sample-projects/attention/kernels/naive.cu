/*@ lightbench(
    title: "A warp for each query, one pass over the keys",
    constants: ["d", "mask"],
    steps: [
        launch(kernel: "attention", grid: ["ceil_div(length, 4)", "shared * group"], block: [128]),
    ],
) @*/

// The scores of a query are never stored: when a larger maximum appears, what was added so far is scaled down (online
// softmax). Each key and each value is read by every query, from L2 at best.

#include <cuda_bf16.h>

constexpr int d = AXIS_d;
constexpr int each = d / 32;  // elements of a lane
constexpr bool causal = AXIS_mask == 2;

__global__ void attention(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k,
                          const __nv_bfloat16* __restrict__ v, __nv_bfloat16* __restrict__ o, int length, int group) {
    const int row = blockIdx.x * 4 + threadIdx.x / 32;
    if (row >= length) {
        return;
    }
    const int first = threadIdx.x % 32 * each;
    const long long place = (static_cast<long long>(blockIdx.y) * length + row) * d + first;
    const long long keys = static_cast<long long>(blockIdx.y) / group * length * d + first;
    const float factor = rsqrtf(static_cast<float>(d));
    float query[each];
    float sums[each] = {};
#pragma unroll
    for (int index = 0; index < each; ++index) {
        query[index] = __bfloat162float(q[place + index]) * factor;
    }
    float most = __int_as_float(0xff800000);
    float total = 0.0f;
    const int last = causal ? row + 1 : length;
    for (int key = 0; key < last; ++key) {
        const long long at = keys + static_cast<long long>(key) * d;
        float score = 0.0f;
#pragma unroll
        for (int index = 0; index < each; ++index) {
            score += query[index] * __bfloat162float(k[at + index]);
        }
#pragma unroll
        for (int step = 16; step > 0; step /= 2) {
            score += __shfl_xor_sync(0xffffffff, score, step);
        }
        const float larger = fmaxf(most, score);
        const float scale = __expf(most - larger);
        const float weight = __expf(score - larger);
        most = larger;
        total = total * scale + weight;
#pragma unroll
        for (int index = 0; index < each; ++index) {
            sums[index] = sums[index] * scale + weight * __bfloat162float(v[at + index]);
        }
    }
#pragma unroll
    for (int index = 0; index < each; ++index) {
        o[place + index] = __float2bfloat16(sums[index] / total);
    }
}
