/*@ lightbench(
    title: "Four rows per block, and no test for the last ones",
    expect: fault(out_of_bounds),
    steps: [
        launch(kernel: "softmax", grid: ["ceil_div(rows, 4)"], block: [32, 4]),
    ],
) @*/

// The mistake: the grid is rounded up to whole blocks, and the kernel does not ask whether its row exists.
// How it shows: up to three rows beyond the end of x are read and as many beyond the end of y written.
// Every row of the result is right.

__global__ void softmax(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
    const long long row = blockIdx.x * 4LL + threadIdx.y;
    const float* x_row = x + row * cols;
    float* y_row = y + row * cols;
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
