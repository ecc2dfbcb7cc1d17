/*@ lightbench(
    title: "Nine reads per result",
    steps: [launch(kernel: "box", grid: ["ceil_div(w, 32)", "ceil_div(h, 8)"], block: [32, 8])],
) @*/
__global__ void box(const float* x, double* y, int h, int w, double* magnitude) {
  const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  if (column >= w || row >= h) return;
  double sum = 0, size = 0;
  for (int i = -1; i <= 1; ++i) {
    for (int j = -1; j <= 1; ++j) {
      const int r = min(max(row + i, 0), h - 1), c = min(max(column + j, 0), w - 1);
      sum += x[r * w + c];
      size += fabs((double)x[r * w + c]);
    }
  }
  y[row * w + column] = sum / 9;
  magnitude[row * w + column] = size / 9;
}
