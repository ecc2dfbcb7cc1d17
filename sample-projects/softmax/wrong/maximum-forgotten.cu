/*@ lightbench(
    title: "Does not subtract the maximum",
    expect: wrong(nan),
    steps: [
        launch(kernel: "softmax", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: exp(x) / sum(exp(x)), which is the same thing on paper.
// How it shows: never on data around zero, which is what tests are made of. From x = 89 on, exp(x) is
// infinite in f32, and infinity over infinity is NaN; below -104 it is zero, and so is the sum.

__global__ void softmax(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
    const float* x_row = x + blockIdx.x * cols;
    float* y_row = y + blockIdx.x * cols;
    float sum = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 32) {
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
