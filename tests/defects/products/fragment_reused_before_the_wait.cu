// The registers of A are loaded again while the product that reads them is pending.
// launch: grid=1 block=128 specific
// arg: in:u32[1024]=1065369472
// arg: buf:f32[128]
// expect: 1[5] = 32
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const unsigned* in, float* out) {
    __shared__ alignas(1024) Operands operands;
    fill(operands);
    fence_async();
    __syncthreads();
    float sums[4] = {};
    unsigned fragment[4] = {};
    for (int step = 0; step < 2; ++step) {
        for (int part = 0; part < 4; ++part) {
            asm volatile("ld.global.u32 %0, [%1];" : "+r"(fragment[part]) // FAULT: missing_wait
                         : "l"(in + 512 * step + 128 * part + threadIdx.x));
        }
        fence_products();
        multiply(sums, fragment, descriptor(operands.b) + 2 * step); // OTHER
        commit_products();
        if (is_fixed) wait_products<0>();
    }
    wait_products<0>();
    out[threadIdx.x] = sums[0];
}

extern "C" __global__ void defect(const unsigned* in, float* out) {
    run<false>(in, out);
}

extern "C" __global__ void fixed(const unsigned* in, float* out) {
    run<true>(in, out);
}
