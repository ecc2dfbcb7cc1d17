/*@ lightbench(
    title: "16-byte loads and stores, a fixed number of blocks",
    params: { "BLOCK": [256, 512, 1024], "BLOCKS_PER_SM": [4, 2, 8] },
    require: ["BLOCK * BLOCKS_PER_SM <= 2048"],
    steps: [
        launch(
            kernel: "saxpy",
            grid: ["min(ceil_div(n, 4 * BLOCK), device.sms * BLOCKS_PER_SM)"],
            block: ["BLOCK"],
        ),
    ],
) @*/

// Four elements travel together: a quarter of the memory instructions for the same bytes.
// The grid is as large as the device and every thread strides over the vector, so that the cost of
// starting a block does not depend on n.
__global__ void saxpy(
    const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ z, long long n,
    float a) {
    long long first = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
    const float4* x4 = reinterpret_cast<const float4*>(x);
    const float4* y4 = reinterpret_cast<const float4*>(y);
    float4* z4 = reinterpret_cast<float4*>(z);
    for (long long i = first; i < n / 4; i += stride) {
        float4 added = x4[i];
        float4 sum = y4[i];
        sum.x += a * added.x;
        sum.y += a * added.y;
        sum.z += a * added.z;
        sum.w += a * added.w;
        z4[i] = sum;
    }
    // The last elements, if n is no multiple of four.
    long long tail = n / 4 * 4 + first;
    if (tail < n) z[tail] = a * x[tail] + y[tail];
}
