/*@ lightbench(
    title: "Filtered between texels: centres are at 0.5",
    textures: [(name: "image", tensor: "x", filter: linear)],
    steps: [launch(kernel: "box", args: ["image", "y", "h: i32", "w: i32"], grid: ["ceil_div(w, 32)", "ceil_div(h, 8)"], block: [32, 8])],
    expect: wrong(numeric),
) @*/
__global__ void box(cudaTextureObject_t image, float* y, int h, int w) {
  const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  if (column >= w || row >= h) return;
  float sum = 0;
  for (int i = -1; i <= 1; ++i) {
    for (int j = -1; j <= 1; ++j) sum += tex2D<float>(image, column + j, row + i);
  }
  y[row * w + column] = sum / 9;
}
