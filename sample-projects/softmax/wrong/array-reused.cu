/*@ lightbench(
    title: "Maximum and sum through one shared array",
    expect: fault(data_race),
    steps: [
        launch(kernel: "softmax", grid: ["rows"], block: [256]),
    ],
) @*/

// The mistake: both reductions go through the same shared array, each with its one barrier, and none in
// between. A fast warp stores its partial sum while a slow warp still reads the partial maxima.
// How it shows: once in many launches, in one row, and never under a debugger.

__global__ void softmax(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
    __shared__ float partial[8];
    const float* x_row = x + blockIdx.x * cols;
    float* y_row = y + blockIdx.x * cols;

    float value = x_row[0];
    for (long long col = threadIdx.x; col < cols; col += 256) {
        value = fmaxf(value, x_row[col]);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
    }
    if (threadIdx.x % 32 == 0) {
        partial[threadIdx.x / 32] = value;
    }
    __syncthreads();
    float row_max = partial[0];
    for (int warp = 1; warp < 8; ++warp) {
        row_max = fmaxf(row_max, partial[warp]);
    }

    value = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 256) {
        value += expf(x_row[col] - row_max);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    }
    if (threadIdx.x % 32 == 0) {
        partial[threadIdx.x / 32] = value;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int warp = 0; warp < 8; ++warp) {
        sum += partial[warp];
    }

    for (long long col = threadIdx.x; col < cols; col += 256) {
        y_row[col] = expf(x_row[col] - row_max) / sum;
    }
}
