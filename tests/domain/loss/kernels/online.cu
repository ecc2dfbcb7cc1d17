/*@ lightbench(
    title: "Online, starting at minus infinity",
    steps: [
        launch(kernel: "loss", grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

#include <cmath>

__global__ void loss(const float* x, const int* labels, float* loss, long long rows, long long classes) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const float* values = x + row * classes;
    float max = -INFINITY;
    float sum = 0.0f;
    for (long long col = 0; col < classes; ++col) {
        const float next = fmaxf(max, values[col]);
        sum = sum * expf(max - next) + expf(values[col] - next);
        max = next;
    }
    loss[row] = logf(sum) + (max - values[labels[row]]);
}
