// Bytes of an asynchronous copy are read behind a barrier, and nobody waited for the copy.
// launch: grid=1 block=32 also=80,100
// arg: in:f32[128]=iota
// arg: buf:f32[128]
// expect: 1[5] = 122
__device__ void copy16(void* to, const void* from) {
    unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory"); // OTHER
}

extern "C" __global__ void defect(const float* in, float* out) {
    __shared__ alignas(16) float s[128];
    copy16(&s[4 * threadIdx.x], &in[4 * threadIdx.x]);
    asm volatile("cp.async.commit_group;" ::: "memory");
    __syncthreads();
    for (int k = threadIdx.x; k < 128; k += 32) out[k] = s[127 - k]; // FAULT: missing_wait
}

extern "C" __global__ void fixed(const float* in, float* out) {
    __shared__ alignas(16) float s[128];
    copy16(&s[4 * threadIdx.x], &in[4 * threadIdx.x]);
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    for (int k = threadIdx.x; k < 128; k += 32) out[k] = s[127 - k];
}
