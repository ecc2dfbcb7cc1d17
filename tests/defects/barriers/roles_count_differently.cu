// The producer warp passes the named barrier once more than the consumer warp.
// launch: grid=1 block=64 also=80,100
// arg: in:f32[128]=1
// arg: buf:f32[32]
// expect: 1[0] = 4
__device__ __forceinline__ void meet(int id) { 
    asm volatile("bar.sync %0, 64;" ::"r"(id) : "memory"); // FAULT: deadlock
}

extern "C" __global__ void defect(const float* in, float* out) {
    __shared__ float stage[32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int k = 0; k < 4; k++) {
            stage[lane] = in[k * 32 + lane];
            meet(1);
            meet(2);
        }
        meet(1);
    } else {
        float sum = 0;
        for (int k = 0; k < 4; k++) {
            meet(1);
            sum += stage[lane];
            meet(2);
        }
        out[lane] = sum;
    }
}

extern "C" __global__ void fixed(const float* in, float* out) {
    __shared__ float stage[32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int k = 0; k < 4; k++) {
            stage[lane] = in[k * 32 + lane];
            meet(1);
            meet(2);
        }
    } else {
        float sum = 0;
        for (int k = 0; k < 4; k++) {
            meet(1);
            sum += stage[lane];
            meet(2);
        }
        out[lane] = sum;
    }
}
