/*@ lightbench(
    title: "A surface that one launch writes and reads",
    scratch: [(name: "rows", dtype: f32, shape: ["h", "w"])],
    textures: [(name: "image", tensor: "x")],
    surfaces: [(name: "sums", tensor: "rows")],
    steps: [launch(kernel: "box", args: ["image", "sums", "y", "h: i32", "w: i32"], grid: ["ceil_div(w, 32)"], block: [32])],
    expect: fault(data_race),
) @*/
__global__ void box(cudaTextureObject_t image, cudaSurfaceObject_t sums, float* y, int h, int w) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  if (column >= w) return;
  for (int row = 0; row < h; ++row) {
    float sum = 0;
    for (int j = -1; j <= 1; ++j) sum += tex2D<float>(image, column + j + 0.5f, row + 0.5f);
    surf2Dwrite(sum, sums, column * (int)sizeof(float), row);
  }
  // Each thread reads what it wrote itself, which the barrier does not make visible to surface loads.
  __syncthreads();
  for (int row = 0; row < h; ++row) {
    float sum = 0;
    for (int i = -1; i <= 1; ++i) {
      sum += surf2Dread<float>(sums, column * (int)sizeof(float), min(max(row + i, 0), h - 1));
    }
    y[row * w + column] = sum / 9;
  }
}
