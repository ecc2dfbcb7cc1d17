// The copies are never committed to a group, and waiting for a number of groups does not cover them.
// launch: grid=1 block=64 also=80,100
// arg: in:i32[64]=iota
// arg: buf:i32[64]
// expect: 1[1] = 62
extern "C" __global__ void defect(const int* in, int* out) {
    __shared__ int s[64];
    unsigned to = __cvta_generic_to_shared(&s[threadIdx.x]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + threadIdx.x) : "memory"); // OTHER
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x]; // FAULT: missing_wait
}

extern "C" __global__ void fixed(const int* in, int* out) {
    __shared__ int s[64];
    unsigned to = __cvta_generic_to_shared(&s[threadIdx.x]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + threadIdx.x) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
}
