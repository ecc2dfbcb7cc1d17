/*@ lightbench(
    title: "Four sums side by side",
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
    float max = values[0];
    for (long long col = 1; col < classes; ++col) {
        max = fmaxf(max, values[col]);
    }
    float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (long long col = 0; col < classes; ++col) {
        sums[col % 4] += expf(values[col] - max);
    }
    const float sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    loss[row] = logf(sum) + (max - values[labels[row]]);
}
