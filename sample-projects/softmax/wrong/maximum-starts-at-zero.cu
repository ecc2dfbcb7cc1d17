/*@ lightbench(
    title: "The maximum begins at zero",
    expect: wrong(nan),
    steps: [
        launch(kernel: "softmax", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: `float row_max = 0.0f`. In a row of negative numbers the maximum found is 0.
// How it shows: not at all while the numbers are small, because softmax does not depend on what is
// subtracted. In a row around -200 every exponential is zero, and the result is 0 / 0.

__global__ void softmax(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
    const float* x_row = x + blockIdx.x * cols;
    float* y_row = y + blockIdx.x * cols;
    float row_max = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 32) {
        row_max = fmaxf(row_max, x_row[col]);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        row_max = fmaxf(row_max, __shfl_xor_sync(0xffffffffu, row_max, distance));
    }
    float sum = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 32) {
        sum += expf(x_row[col] - row_max);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    for (long long col = threadIdx.x; col < cols; col += 32) {
        y_row[col] = expf(x_row[col] - row_max) / sum;
    }
}
