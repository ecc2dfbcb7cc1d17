/*@ lightbench(
    title: "Reference",
    steps: [launch(kernel: "reference", args: ["x", "y", "y.magnitude", "rows * cols: i64", "alpha"],
                   grid: ["ceil_div(rows * cols, 256)"], block: [256])],
) @*/
__global__ void reference(const float* x, double* y, double* magnitude, long long count, float alpha) {
  long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < count) {
    y[i] = double(alpha) * double(x[i]);
    magnitude[i] = fabs(y[i]);
  }
}
