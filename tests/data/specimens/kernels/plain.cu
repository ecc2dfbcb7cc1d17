/*@ lightbench(
    title: "Nothing to say: 16-byte accesses, a loop, blocks that fill the device twice",
    steps: [launch(kernel: "plain", grid: ["2 * device.sms"], block: [256])],
) @*/
__global__ void plain(const float4* __restrict__ x, float4* __restrict__ y, int n) {
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n / 4; i += gridDim.x * 256) {
        const float4 value = x[i];
        y[i] = make_float4(2.0f * value.x, 2.0f * value.y, 2.0f * value.z, 2.0f * value.w);
    }
}
