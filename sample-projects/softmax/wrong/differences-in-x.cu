/*@ lightbench(
    title: "Keeps the differences in x",
    expect: fault(input_modified),
    steps: [
        launch(kernel: "softmax", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: every element of x is lowered by the row's maximum in place, to save a subtraction later.
// How it shows: y is right, however often the kernel runs, because softmax does not depend on a shift. But
// x belongs to somebody else.

__global__ void softmax(float* x, float* y, long long rows, long long cols) {
    float* x_row = x + blockIdx.x * cols;
    float* y_row = y + blockIdx.x * cols;
    float row_max = x_row[0];
    for (long long col = threadIdx.x; col < cols; col += 32) {
        row_max = fmaxf(row_max, x_row[col]);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        row_max = fmaxf(row_max, __shfl_xor_sync(0xffffffffu, row_max, distance));
    }
    float sum = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 32) {
        x_row[col] -= row_max;
        sum += expf(x_row[col]);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    for (long long col = threadIdx.x; col < cols; col += 32) {
        y_row[col] = expf(x_row[col]) / sum;
    }
}
