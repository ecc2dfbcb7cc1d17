/*@ lightbench(
    title: "Does not subtract the maximum",
    expect: wrong,
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
    for (long long col = 0; col < classes; ++col) {
        max = fmaxf(max, values[col]);
    }
    float sum = 0.0f;
    for (long long col = 0; col < classes; ++col) {
        sum += expf(values[col]);
    }
    loss[row] = logf(sum) - values[labels[row]];
}
