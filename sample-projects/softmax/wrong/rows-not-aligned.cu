/*@ lightbench(
    title: "Reads every row as float4",
    expect: fault(misaligned),
    steps: [
        launch(kernel: "softmax", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: the buffer is aligned, so the rows must be. Where cols is not a multiple of four, only
// every second or fourth row is.
// How it shows: `misaligned address` in row 1 of any odd width with at least one whole vector. The tail
// of the row is handled correctly, which is how this passes a review.

__global__ void softmax(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
    const float* x_row = x + blockIdx.x * cols;
    float* y_row = y + blockIdx.x * cols;
    const long long vectors = cols / 4;
    const long long tail = 4 * vectors + threadIdx.x;

    float row_max = x_row[0];
    for (long long vector = threadIdx.x; vector < vectors; vector += 32) {
        const float4 value = reinterpret_cast<const float4*>(x_row)[vector];
        row_max = fmaxf(row_max, fmaxf(fmaxf(value.x, value.y), fmaxf(value.z, value.w)));
    }
    if (tail < cols) {
        row_max = fmaxf(row_max, x_row[tail]);
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
