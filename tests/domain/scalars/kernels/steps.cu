/*@ lightbench(
    title: "Steps of n instead of a remainder",
    steps: [
        launch(kernel: "rotate", grid: ["ceil_div(n, 64)"], block: [64]),
    ],
) @*/

__global__ void rotate(const float* x, float* y, long long n, int offset, float scale) {
    const long long index = blockIdx.x * 64LL + threadIdx.x;
    if (index >= n) {
        return;
    }
    long long place = index + offset;
    while (place < 0) {
        place += n;
    }
    while (place >= n) {
        place -= n;
    }
    const long long from = place;
    y[index] = scale * x[from];
}
