/*@ lightbench(
    title: "Rounds the angles to bf16",
    expect: wrong(imprecise),
    steps: [
        launch(kernel: "rotary", grid: ["ceil_div(tokens * heads * half, 256)"], block: [256]),
    ],
) @*/

// The mistake: cosine and sine are rounded to the type of x before they are used, as code does that casts its tables
// once to the type of the model.
// How it shows: many elements are a bf16 step away, and the angles are off by about a tenth of a degree.

#include <cuda_bf16.h>

__global__ void rotary(__nv_bfloat16* x, const float* __restrict__ cosines, const float* __restrict__ sines,
                       const int* __restrict__ position, long long tokens, int heads, int half) {
    const long long point = blockIdx.x * 256LL + threadIdx.x;
    if (point >= tokens * heads * half) {
        return;
    }
    const long long head = point / half;
    const int index = static_cast<int>(point % half);
    const long long entry = static_cast<long long>(position[head / heads]) * half + index;
    const float cosine = __bfloat162float(__float2bfloat16(cosines[entry]));
    const float sine = __bfloat162float(__float2bfloat16(sines[entry]));
    __nv_bfloat16* first = x + head * (2 * half) + index;
    const float left = __bfloat162float(first[0]);
    const float right = __bfloat162float(first[half]);
    first[0] = __float2bfloat16(left * cosine - right * sine);
    first[half] = __float2bfloat16(right * cosine + left * sine);
}
