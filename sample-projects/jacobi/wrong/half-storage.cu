/*@ lightbench(
    title: "Keeps the planes between sweeps in half precision",
    expect: wrong(imprecise),
    scratch: [(name: "next", dtype: f16, shape: ["height", "width"], init: undefined)],
    steps: [
        launch(kernel: "sweep<float, __half>", args: ["start", "next", "height", "width"],
               grid: ["ceil_div(width, 32)", "ceil_div(height, 8)"], block: [32, 8]),
        launch(kernel: "sweep<__half, float>", args: ["next", "u", "height", "width"],
               grid: ["ceil_div(width, 32)", "ceil_div(height, 8)"], block: [32, 8]),
        repeat(count: "sweeps // 2 - 1", steps: [
            launch(kernel: "sweep<float, __half>", args: ["u", "next", "height", "width"],
                   grid: ["ceil_div(width, 32)", "ceil_div(height, 8)"], block: [32, 8]),
            launch(kernel: "sweep<__half, float>", args: ["next", "u", "height", "width"],
                   grid: ["ceil_div(width, 32)", "ceil_div(height, 8)"], block: [32, 8]),
        ]),
    ],
) @*/

// The mistake: every other plane is stored in half precision, for three quarters of the bytes.
// How it shows: each sweep averages errors away almost as fast as the next one adds them: the result is right to three
// digits, after any number of sweeps.

#include <cuda_fp16.h>

template <typename From, typename To>
__global__ void sweep(const From* __restrict__ from, To* __restrict__ to, int height, int width) {
    const int col = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 8 + threadIdx.y;
    if (row >= height || col >= width) {
        return;
    }
    const long long point = static_cast<long long>(row) * width + col;
    const bool is_fixed = row == 0 || col == 0 || row == height - 1 || col == width - 1;
    const auto at = [&](long long index) { return static_cast<float>(from[index]); };
    to[point] = static_cast<To>(is_fixed ? at(point)
                                         : 0.25f * ((at(point - width) + at(point + width)) +
                                                    (at(point - 1) + at(point + 1))));
}
