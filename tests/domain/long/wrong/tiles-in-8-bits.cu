/*@ lightbench(
    title: "The number of tiles in 8 bits",
    expect: wrong,
    steps: [
        launch(kernel: "row_sums", grid: ["rows"], block: [64]),
    ],
) @*/

__global__ void row_sums(const float* x, float* y, long long rows, long long cols) {
    __shared__ float sums[64];
    const float* row = x + blockIdx.x * cols;
    const unsigned char tiles = static_cast<unsigned char>((cols + 255) / 256);
    float sum = 0;
    float block = 0;
    int count = 0;
    for (long long col = threadIdx.x; col < cols && col < 256 * tiles; col += 64) {
        block += row[col];
        if (++count % 32 == 0) {
            sum += block;
            block = 0;
        }
    }
    sums[threadIdx.x] = sum + block;
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        y[blockIdx.x] = sums[0];
    }
}
