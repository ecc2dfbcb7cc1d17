/*@ lightbench(
    title: "Adds into device globals that nobody clears",
    expect: refused(device_globals),
    steps: [
        launch(kernel: "row_sums", args: ["x", "cols"], grid: ["rows"], block: [128]),
        launch(kernel: "softmax", args: ["x", "y", "cols"], grid: ["rows"], block: [128]),
    ],
) @*/

// The mistake: two kernels hand the sums over in a `__device__` array. It is zero when the module is loaded,
// and never again.
// How it shows: the first launch is right, the second has sums twice as large. A test that launches once
// passes. Refused before anything runs; `scratch` with `init: zero_each_launch` is the honest way.

#include <cuda_bf16.h>

__device__ float sums[16777216];

// The maximum of the row, found by every thread for itself.
__device__ float row_max_of(const __nv_bfloat16* x_row, long long cols) {
    float row_max = __bfloat162float(x_row[0]);
    for (long long col = 1; col < cols; ++col) {
        row_max = fmaxf(row_max, __bfloat162float(x_row[col]));
    }
    return row_max;
}

__global__ void row_sums(const __nv_bfloat16* __restrict__ x, long long cols) {
    const __nv_bfloat16* x_row = x + blockIdx.x * cols;
    const float row_max = row_max_of(x_row, cols);
    float sum = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 128) {
        sum += expf(__bfloat162float(x_row[col]) - row_max);
    }
    atomicAdd(&sums[blockIdx.x], sum);
}

__global__ void softmax(const __nv_bfloat16* __restrict__ x, __nv_bfloat16* __restrict__ y, long long cols) {
    const __nv_bfloat16* x_row = x + blockIdx.x * cols;
    __nv_bfloat16* y_row = y + blockIdx.x * cols;
    const float row_max = row_max_of(x_row, cols);
    for (long long col = threadIdx.x; col < cols; col += 128) {
        y_row[col] = __float2bfloat16(expf(__bfloat162float(x_row[col]) - row_max) / sums[blockIdx.x]);
    }
}
