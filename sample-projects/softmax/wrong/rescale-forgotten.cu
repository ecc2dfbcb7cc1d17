/*@ lightbench(
    title: "Online softmax that never scales its sum down",
    expect: wrong(numeric),
    steps: [
        launch(kernel: "softmax", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: when the running maximum grows, the terms added before were relative to the old one. The
// sum must be multiplied by exp(old - new), and is not.
// How it shows: sums that are too large, by an amount that depends on the order of the data: rows whose
// maximum comes first are right.

__global__ void softmax(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
    const float* x_row = x + blockIdx.x * cols;
    float* y_row = y + blockIdx.x * cols;
    float row_max = x_row[0];
    float sum = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 32) {
        row_max = fmaxf(row_max, x_row[col]);
        sum += expf(x_row[col] - row_max);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        row_max = fmaxf(row_max, __shfl_xor_sync(0xffffffffu, row_max, distance));
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    for (long long col = threadIdx.x; col < cols; col += 32) {
        y_row[col] = expf(x_row[col] - row_max) / sum;
    }
}
