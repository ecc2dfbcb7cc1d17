// A float4 is built of three loaded values and one that was never set, in shared memory.
// launch: grid=1 block=16 also=80,100
// arg: in:f32[48]=1
// arg: buf:f32[16]
// expect: 1[2] = 4
extern "C" __global__ void defect(const float* rgb, float* sum) {
    __shared__ float4 pixels[16];
    int t = threadIdx.x;
    pixels[t].x = rgb[3 * t];
    pixels[t].y = rgb[3 * t + 1];
    pixels[t].z = rgb[3 * t + 2];
    __syncthreads();
    float4 p = pixels[15 - t];
    sum[t] = p.x + p.y + p.z + p.w; // FAULT: uninitialized_read
}

extern "C" __global__ void fixed(const float* rgb, float* sum) {
    __shared__ float4 pixels[16];
    int t = threadIdx.x;
    pixels[t].x = rgb[3 * t];
    pixels[t].y = rgb[3 * t + 1];
    pixels[t].z = rgb[3 * t + 2];
    pixels[t].w = 1.0f;
    __syncthreads();
    float4 p = pixels[15 - t];
    sum[t] = p.x + p.y + p.z + p.w;
}
