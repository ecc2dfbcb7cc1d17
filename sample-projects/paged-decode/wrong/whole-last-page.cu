/*@ lightbench(
    title: "Every token of the last page counts",
    expect: wrong(numeric),
    steps: [launch(kernel: "decode_grouped", grid: ["heads * ceil_div(group, 4)", "batch"], block: [128])],
) @*/

// Right for sequences that fill their pages.

#include "decode.cuh"

using namespace decode;

__global__ void __launch_bounds__(128)
decode_grouped(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ keys,
               const __nv_bfloat16* __restrict__ values, const int* __restrict__ table, const int* __restrict__ newest,
               __nv_bfloat16* __restrict__ o, int heads, int group, int slots, int page) {
    __shared__ Shared shared;
    const int passes = (group + heads_at_once - 1) / heads_at_once;
    const int head = blockIdx.x / passes;
    const int first = blockIdx.x % passes * heads_at_once;
    const int count = min(group - first, heads_at_once);
    const long long place = ((static_cast<long long>(blockIdx.y) * heads + head) * group + first) * d;
    const Cache cache = {keys, values, table + static_cast<long long>(blockIdx.y) * slots, heads, page};
    attend(shared, q + place, cache, head, count, 0, (newest[blockIdx.y] / page + 1) * page);
    for (int other = 0; other < count; ++other) {
        const Merged all = merged(shared, other, threadIdx.x);
        o[place + other * d + threadIdx.x] = __float2bfloat16(all.sum / all.total);
    }
}
