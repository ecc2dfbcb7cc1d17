// The guard of a volume looks at width and height and forgets the depth.
// launch: grid=2,2,2 block=4,4,4 also=80,100
// arg: in:u16[252]=7
// arg: buf:u16[252]
// arg: u32:6
// arg: u32:7
// arg: u32:6
// expect: 1[251] = 14
extern "C" __global__ void defect(const unsigned short* in, unsigned short* out, unsigned w, unsigned h, unsigned d) {
    const uint3 p = make_uint3(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                               blockIdx.z * blockDim.z + threadIdx.z);
    if (p.x >= w || p.y >= h) return;
    const unsigned i = (p.z * h + p.y) * w + p.x;
    out[i] = in[i] * 2; // FAULT: out_of_bounds
}

extern "C" __global__ void fixed(const unsigned short* in, unsigned short* out, unsigned w, unsigned h, unsigned d) {
    const uint3 p = make_uint3(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                               blockIdx.z * blockDim.z + threadIdx.z);
    if (p.x >= w || p.y >= h || p.z >= d) return;
    const unsigned i = (p.z * h + p.y) * w + p.x;
    out[i] = in[i] * 2;
}
