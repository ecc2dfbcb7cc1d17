/*@ lightbench(
    title: "Multiplies in bf16",
    expect: wrong(imprecise),
    steps: [
        launch(kernel: "spmv", args: ["offsets", "indices", "values", "x", "y", "rows"],
               grid: ["ceil_div(rows, 128)"], block: [128]),
    ],
) @*/

// The mistake: the products are rounded to bf16 before they are added, since the sum is in f32 anyway.
// How it shows: each product is right to eight bits. In rows of one element the result is the product.

#include <cuda_bf16.h>

__global__ void spmv(const int* __restrict__ offsets, const int* __restrict__ indices,
                     const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, int rows) {
    const int row = blockIdx.x * 128 + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    for (int place = offsets[row]; place < offsets[row + 1]; ++place) {
        sum += __bfloat162float(__float2bfloat16(values[place] * x[indices[place]]));
    }
    y[row] = sum;
}
