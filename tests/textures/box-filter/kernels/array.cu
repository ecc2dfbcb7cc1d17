/*@ lightbench(
    title: "The edges by a texture, in an array",
    textures: [(name: "image", tensor: "x")],
    steps: [launch(kernel: "box", args: ["image", "y", "h: i32", "w: i32"], grid: ["ceil_div(w, 32)", "ceil_div(h, 8)"], block: [32, 8])],
) @*/
__global__ void box(cudaTextureObject_t image, float* y, int h, int w) {
  const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  if (column >= w || row >= h) return;
  float sum = 0;
  for (int i = -1; i <= 1; ++i) {
    for (int j = -1; j <= 1; ++j) sum += tex2D<float>(image, column + j + 0.5f, row + i + 0.5f);
  }
  y[row * w + column] = sum / 9;
}
