import torch
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <c10/cuda/CUDAGuard.h>
#include <ATen/cuda/CUDAContext.h>

#define CHECK_INPUT(x) TORCH_CHECK(x.is_cuda() && x.is_contiguous(), #x " must be a contiguous CUDA tensor")

template <typename scalar_t, int THREADS>
__global__ void softmax_kernel(const scalar_t* __restrict__ x, scalar_t* __restrict__ y, int cols) {
    __shared__ float partial[THREADS];
    const scalar_t* row = x + static_cast<long long>(blockIdx.x) * cols;
    scalar_t* out = y + static_cast<long long>(blockIdx.x) * cols;
    float largest = -INFINITY;
    for (int i = threadIdx.x; i < cols; i += THREADS) largest = fmaxf(largest, static_cast<float>(row[i]));
    partial[threadIdx.x] = largest;
    __syncthreads();
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) partial[threadIdx.x] = fmaxf(partial[threadIdx.x], partial[threadIdx.x + step]);
        __syncthreads();
    }
    largest = partial[0];
    __syncthreads();
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += THREADS) sum += expf(static_cast<float>(row[i]) - largest);
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) partial[threadIdx.x] += partial[threadIdx.x + step];
        __syncthreads();
    }
    const float scale = 1.0f / partial[0];
    for (int i = threadIdx.x; i < cols; i += THREADS)
        out[i] = static_cast<scalar_t>(expf(static_cast<float>(row[i]) - largest) * scale);
}

torch::Tensor softmax(torch::Tensor x) {
    CHECK_INPUT(x);
    TORCH_CHECK(x.dim() == 2, "expected a matrix");
    const at::cuda::OptionalCUDAGuard guard(device_of(x));
    const int rows = x.size(0);
    const int cols = x.size(1);
    auto y = torch::empty_like(x);
    constexpr int threads = 256;
    AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "softmax", [&] {
        softmax_kernel<scalar_t, threads><<<rows, threads, 0, at::cuda::getCurrentCUDAStream()>>>(
            x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), cols);
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
"""

module = load_inline(
    name="softmax_ext",
    cpp_sources="torch::Tensor softmax(torch::Tensor x);",
    cuda_sources=cuda_source,
    functions=["softmax"],
    extra_cuda_cflags=["-O3"],
)
