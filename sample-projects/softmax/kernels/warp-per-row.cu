/*@ lightbench(
    title: "One warp per row, three passes",
    params: { "BLOCK": [128, 64, 256, 512] },
    steps: [
        launch(kernel: "softmax<PARAM_BLOCK>", grid: ["ceil_div(rows, BLOCK // 32)"], block: ["BLOCK"]),
    ],
) @*/

// Against `naive`: the 32 threads of a warp share a row, so a load of the warp is one 128-byte piece of
// it, and maximum and sum cross the threads by shuffles. Warps never wait for each other: no shared
// memory, no barrier. `__expf` is the hardware's 2^x after one multiplication; its error is far inside
// the tolerance because its argument is never positive.

__device__ float warp_max(float value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
    }
    return value;
}

__device__ float warp_sum(float value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    }
    return value;
}

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
softmax(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
    const long long row = static_cast<long long>(blockIdx.x) * (BLOCK / 32) + threadIdx.x / 32;
    if (row >= rows) {
        return;  // whole warps leave together, so the full masks below stay true
    }
    const int lane = threadIdx.x % 32;
    const int width = static_cast<int>(cols);
    const float* x_row = x + row * cols;
    float* y_row = y + row * cols;

    float row_max = x_row[0];  // any element of the row will do to begin with; lanes beyond a short row need one
    for (int col = lane; col < width; col += 32) {
        row_max = fmaxf(row_max, x_row[col]);
    }
    row_max = warp_max(row_max);

    float sum = 0.0f;
    for (int col = lane; col < width; col += 32) {
        sum += __expf(x_row[col] - row_max);
    }
    const float reciprocal = 1.0f / warp_sum(sum);

    for (int col = lane; col < width; col += 32) {
        y_row[col] = __expf(x_row[col] - row_max) * reciprocal;
    }
}
