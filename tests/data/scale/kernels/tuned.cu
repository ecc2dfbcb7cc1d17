/*@ lightbench(
    title: "Several elements per thread",
    params: { "BLOCK": [128, 256], "UNROLL": [4, 8] },
    require: ["BLOCK * UNROLL <= 1024"],
    constants: ["cols"],
    steps: [launch(kernel: "scale<PARAM_BLOCK, PARAM_UNROLL>",
                   grid: ["ceil_div(rows * cols, BLOCK * UNROLL)"], block: ["BLOCK"])],
) @*/
template <int Block, int Unroll>
__global__ void __launch_bounds__(Block) scale(const float* __restrict__ x, float* __restrict__ y,
                                               long long count, float alpha) {
  static_assert(axis::cols == AXIS_cols, "the constant is visible both ways");
  __shared__ float staged[Block];
  const long long first = blockIdx.x * static_cast<long long>(Block * Unroll) + threadIdx.x;
#pragma unroll
  for (int step = 0; step < Unroll; ++step) {
    const long long i = first + step * Block;
    staged[threadIdx.x] = i < count ? x[i] : 0.0f;
    __syncthreads();
    if (i < count) {
      y[i] = alpha * staged[threadIdx.x];
    }
    __syncthreads();
  }
}
