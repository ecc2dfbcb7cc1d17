#pragma once

__device__ inline long long flat_index() {
  return blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
}
