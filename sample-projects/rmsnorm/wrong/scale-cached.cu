/*@ lightbench(
    title: "Remembers the scale of each row",
    expect: refused(device_globals),
    steps: [
        launch(kernel: "rmsnorm", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: the scale of each row is kept in a `__device__` array and used again when the row 'has
// not changed', which is judged by its first element.
// How it shows: it reads x once instead of twice, in every benchmark that repeats a launch. Refused
// before anything runs, because the kernel stores to device globals.

#include <cuda_bf16.h>

__device__ float cached_scale[1048576];
__device__ float cached_first[1048576];

__global__ void rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                        __nv_bfloat16* __restrict__ y, long long rows, long long cols, float eps) {
    const __nv_bfloat16* x_row = x + blockIdx.x * cols;
    __nv_bfloat16* y_row = y + blockIdx.x * cols;
    const float first = __bfloat162float(x_row[0]);
    float scale = cached_scale[blockIdx.x];
    if (scale == 0.0f || cached_first[blockIdx.x] != first) {
        float sum_of_squares = 0.0f;
        for (long long col = threadIdx.x; col < cols; col += 32) {
            const float value = __bfloat162float(x_row[col]);
            sum_of_squares += value * value;
        }
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) {
            sum_of_squares += __shfl_xor_sync(0xffffffffu, sum_of_squares, distance);
        }
        scale = rsqrtf(sum_of_squares / static_cast<float>(cols) + eps);
        if (threadIdx.x == 0) {
            cached_scale[blockIdx.x] = scale;
            cached_first[blockIdx.x] = first;
        }
    }
    for (long long col = threadIdx.x; col < cols; col += 32) {
        y_row[col] = __float2bfloat16(__bfloat162float(x_row[col]) * scale * __bfloat162float(w[col]));
    }
}
