/*@ lightbench(
    title: "Rows, then columns: a surface between two launches, and one for the result",
    scratch: [(name: "rows", dtype: f32, shape: ["h", "w"])],
    textures: [(name: "image", tensor: "x", normalized: true), (name: "sums", tensor: "rows")],
    surfaces: [(name: "to_rows", tensor: "rows"), (name: "to_y", tensor: "y")],
    steps: [
        launch(kernel: "along_rows", args: ["image", "to_rows", "h: i32", "w: i32"], grid: ["ceil_div(w, 32)", "ceil_div(h, 8)"], block: [32, 8]),
        launch(kernel: "along_columns", args: ["sums", "to_y", "h: i32", "w: i32"], grid: ["ceil_div(w, 32)", "ceil_div(h, 8)"], block: [32, 8]),
    ],
) @*/
__global__ void along_rows(cudaTextureObject_t image, cudaSurfaceObject_t rows, int h, int w) {
  const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  if (column >= w || row >= h) return;
  float sum = 0;
  for (int j = -1; j <= 1; ++j) {
    sum += tex2D<float>(image, (column + j + 0.5f) / w, (row + 0.5f) / h);
  }
  surf2Dwrite(sum, rows, column * (int)sizeof(float), row);
}

__global__ void along_columns(cudaTextureObject_t sums, cudaSurfaceObject_t y, int h, int w) {
  const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  if (column >= w || row >= h) return;
  float sum = 0;
  for (int i = -1; i <= 1; ++i) sum += tex2D<float>(sums, column + 0.5f, row + i + 0.5f);
  surf2Dwrite(sum / 9, y, column * (int)sizeof(float), row);
}
