/*@ lightbench(
    title: "Stages the row in shared memory and reads its padding",
    expect: fault(uninitialized_read),
    steps: [
        launch(kernel: "softmax", grid: ["rows"], block: [32], shared: "4 * 32 * ceil_div(cols, 32)"),
    ],
) @*/

// The mistake: the row is copied into shared memory that is rounded up to whole warps, and the loops run
// over the rounded width: the padding was never given a value that changes nothing (minus infinity).
// How it shows: with what an earlier block left behind as an extra logit: too large a maximum, too large
// a sum, or nothing, if it happens to be small.

__global__ void softmax(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
    extern __shared__ float staged[];
    const float* x_row = x + blockIdx.x * cols;
    float* y_row = y + blockIdx.x * cols;
    const int width = static_cast<int>(cols);
    const int padded = (width + 31) / 32 * 32;

    for (int col = threadIdx.x; col < width; col += 32) {
        staged[col] = x_row[col];
    }
    __syncwarp();
    float row_max = staged[0];
    for (int col = threadIdx.x; col < padded; col += 32) {
        row_max = fmaxf(row_max, staged[col]);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        row_max = fmaxf(row_max, __shfl_xor_sync(0xffffffffu, row_max, distance));
    }
    float sum = 0.0f;
    for (int col = threadIdx.x; col < padded; col += 32) {
        sum += expf(staged[col] - row_max);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    for (int col = threadIdx.x; col < width; col += 32) {
        y_row[col] = expf(staged[col] - row_max) / sum;
    }
}
