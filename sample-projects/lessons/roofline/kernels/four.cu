/*@ lightbench(
    title: "Four elements for each thread",
    steps: [
        launch(kernel: "polynomial", grid: ["ceil_div(n, 1024)"], block: [256]),
    ],
) @*/

// Four independent chains of multiply-adds, so that a warp can issue one while the others wait, and one loop for all of them.

__global__ void polynomial(const float* __restrict__ x, float* __restrict__ y, long long n, int degree) {
    const long long i = (static_cast<long long>(blockIdx.x) * 256 + threadIdx.x) * 4;
    if (i >= n) {
        return;
    }
    float half[4];
    float sum[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        half[j] = i + j < n ? 0.5f * x[i + j] : 0.0f;
        sum[j] = 1.0f;
    }
#pragma unroll 8
    for (int power = 0; power < degree; ++power) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            sum[j] = fmaf(sum[j], half[j], 1.0f);
        }
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        if (i + j < n) {
            y[i + j] = sum[j];
        }
    }
}
