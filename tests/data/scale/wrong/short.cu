/*@ lightbench(
    title: "Leaves the last row unwritten",
    expect: wrong(unwritten),
    steps: [launch(kernel: "scale", args: ["x", "y", "rows * cols - cols: i64", "alpha"],
                   grid: ["ceil_div(rows * cols, 256)"], block: [256])],
) @*/
#include "index.cuh"

__global__ void scale(const float* x, float* y, long long count, float alpha) {
  long long i = flat_index();
  if (i < count) {
    y[i] = alpha * x[i];
  }
}
