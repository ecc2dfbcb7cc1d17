// Static shared memory, a barrier, constants, and scalar parameters of several sizes.
__constant__ float weights[24];

extern "C" __global__ void __launch_bounds__(128) scale(float* y, const float* x, int n, double factor, char shift) {
  __shared__ float tile[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] : 0.f;
  __syncthreads();
  if (i < n) y[i] = tile[127 - threadIdx.x] * float(factor) + weights[threadIdx.x % 24] + shift;
}

template <typename T> __global__ void copy(T* y, const T* x) { y[threadIdx.x] = x[threadIdx.x]; }
template __global__ void copy<double>(double*, const double*);
