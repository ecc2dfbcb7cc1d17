// The row begins after a header of one float, so its float4 loads are not aligned.
// launch: grid=1 block=8 also=80,100
// arg: in:f32[36]=iota
// arg: buf:f32[32]
// expect: 1[31] = 32
extern "C" __global__ void defect(const float* message, float* out) {
    const float4* body = reinterpret_cast<const float4*>(message + 1);
    reinterpret_cast<float4*>(out)[threadIdx.x] = body[threadIdx.x]; // FAULT: misaligned
}

extern "C" __global__ void fixed(const float* message, float* out) {
    const float* body = message + 1 + 4 * threadIdx.x;
    reinterpret_cast<float4*>(out)[threadIdx.x] = make_float4(body[0], body[1], body[2], body[3]);
}
