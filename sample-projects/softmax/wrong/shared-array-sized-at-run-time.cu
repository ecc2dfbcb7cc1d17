/*@ lightbench(
    title: "A shared array as long as the row",
    expect: compile,
    steps: [
        launch(kernel: "softmax", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: `__shared__ float staged[cols]`. The size of a static shared array is part of the compiled
// kernel; `cols` is known only when it is launched. (Dynamic shared memory, or `constants: ["cols"]`.)
// How it shows: the compiler says that the expression must have a constant value, with line and column.

__global__ void softmax(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
    __shared__ float staged[cols];
    const float* x_row = x + blockIdx.x * cols;
    float* y_row = y + blockIdx.x * cols;
    float row_max = x_row[0];
    for (long long col = threadIdx.x; col < cols; col += 32) {
        staged[col] = x_row[col];
        row_max = fmaxf(row_max, staged[col]);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        row_max = fmaxf(row_max, __shfl_xor_sync(0xffffffffu, row_max, distance));
    }
    float sum = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 32) {
        sum += expf(staged[col] - row_max);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    for (long long col = threadIdx.x; col < cols; col += 32) {
        y_row[col] = expf(staged[col] - row_max) / sum;
    }
}
