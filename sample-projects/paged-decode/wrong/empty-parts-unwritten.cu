/*@ lightbench(
    title: "A part without tokens writes nothing",
    expect: fault(uninitialized_read),
    params: {"SPLIT": [1, 2, 4, 8, 16, 32]},
    // As few parts as give every multiprocessor four blocks.
    require: ["SPLIT == 32 or batch * heads * SPLIT >= 4 * device.sms"],
    scratch: [
        (name: "states", dtype: f32, shape: ["batch * heads * group", "SPLIT", "2"], init: undefined),
        (name: "sums", dtype: f32, shape: ["batch * heads * group", "SPLIT", "128"], init: undefined),
    ],
    steps: [
        launch(kernel: "decode_part",
               args: ["q", "keys", "values", "table", "newest", "states", "sums", "heads", "group", "slots", "page"],
               grid: ["heads * ceil_div(group, 4)", "batch", "SPLIT"], block: [128]),
        launch(kernel: "combine", args: ["states", "sums", "o"], grid: ["batch * heads * group"], block: [128]),
    ],
) @*/

// What the scratch memory had before is added to the result.

#include "decode.cuh"

using namespace decode;

constexpr int parts = PARAM_SPLIT;

__global__ void __launch_bounds__(128)
decode_part(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ keys,
            const __nv_bfloat16* __restrict__ values, const int* __restrict__ table, const int* __restrict__ newest,
            float* __restrict__ states, float* __restrict__ sums, int heads, int group, int slots, int page) {
    __shared__ Shared shared;
    const int passes = (group + heads_at_once - 1) / heads_at_once;
    const int head = blockIdx.x / passes;
    const int first = blockIdx.x % passes * heads_at_once;
    const int count = min(group - first, heads_at_once);
    const long long row = (static_cast<long long>(blockIdx.y) * heads + head) * group + first;
    const Cache cache = {keys, values, table + static_cast<long long>(blockIdx.y) * slots, heads, page};
    // Parts of whole steps.
    const int tokens = newest[blockIdx.y] + 1;
    const int steps = (tokens + step - 1) / step;
    const int length = (steps + parts - 1) / parts * step;
    const int begin = blockIdx.z * length;
    if (begin >= tokens) {
        return;
    }
    attend(shared, q + row * d, cache, head, count, begin, min(begin + length, tokens));
    for (int other = 0; other < count; ++other) {
        const Merged part = merged(shared, other, threadIdx.x);
        const long long place = (row + other) * parts + blockIdx.z;
        sums[place * d + threadIdx.x] = part.sum;
        if (threadIdx.x == 0) {
            states[place * 2] = part.most;
            states[place * 2 + 1] = part.total;
        }
    }
}

__global__ void __launch_bounds__(128)
combine(const float* __restrict__ states, const float* __restrict__ sums, __nv_bfloat16* __restrict__ o) {
    const long long row = blockIdx.x;
    float most = nothing();
#pragma unroll
    for (int part = 0; part < parts; ++part) {
        most = fmaxf(most, states[(row * parts + part) * 2]);
    }
    float total = 0.0f;
    float sum = 0.0f;
#pragma unroll
    for (int part = 0; part < parts; ++part) {
        const long long place = row * parts + part;
        const float scale = rescaled(states[place * 2], most);
        total += scale * states[place * 2 + 1];
        sum += scale * sums[place * d + threadIdx.x];
    }
    o[row * d + threadIdx.x] = __float2bfloat16(sum / total);
}
