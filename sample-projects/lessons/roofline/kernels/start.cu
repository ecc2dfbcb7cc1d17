/*@ lightbench(
    title: "Begin here: one element for each thread",
    steps: [
        launch(kernel: "polynomial", grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

__global__ void polynomial(const float* __restrict__ x, float* __restrict__ y, long long n, int degree) {
    const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
    if (i >= n) {
        return;
    }
    // 1 + x / 2 + (x / 2)^2 + ..., by Horner's rule: each step needs the result of the one before.
    const float half = 0.5f * x[i];
    float sum = 1.0f;
    for (int power = 0; power < degree; ++power) {
        sum = fmaf(sum, half, 1.0f);
    }
    y[i] = sum;
}
