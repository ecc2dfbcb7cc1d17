/*@ lightbench(
    title: "Vectors of four, and nothing after them",
    expect: wrong(unwritten),
    steps: [
        launch(kernel: "saxpy", grid: ["ceil_div(n, 4 * 256)"], block: [256]),
    ],
) @*/

// Right whenever n is a multiple of four, which is why the project verifies sizes that are not.
__global__ void saxpy(
    const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ z, long long n,
    float a) {
    long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (i >= n / 4) return;
    float4 added = reinterpret_cast<const float4*>(x)[i];
    float4 sum = reinterpret_cast<const float4*>(y)[i];
    sum.x += a * added.x;
    sum.y += a * added.y;
    sum.z += a * added.z;
    sum.w += a * added.w;
    reinterpret_cast<float4*>(z)[i] = sum;
}
