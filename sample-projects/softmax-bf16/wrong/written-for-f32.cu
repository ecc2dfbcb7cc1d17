/*@ lightbench(
    title: "An f32 kernel on bf16 buffers",
    expect: fault(out_of_bounds),
    steps: [
        launch(kernel: "softmax", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: the kernel of the f32 project, copied. A pointer is a pointer: the size of the arguments is
// right, and only the addresses show that four bytes are taken where two belong to the element.
// How it shows: rows in the second half of x lie beyond its end.

__global__ void softmax(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
    const float* x_row = x + blockIdx.x * cols;
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
