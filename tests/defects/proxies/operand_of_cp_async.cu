// An operand arrives by cp.async, whose writes need the proxy fence as ordinary stores do.
// launch: grid=1 block=128 specific
// arg: in:u32[2048]=1065369472
// arg: buf:f32[128]
// expect: 1[5] = 16
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const unsigned* in, float* out) {
    __shared__ alignas(1024) Operands operands;
    fill(operands);
    fence_async();
    __syncthreads();
    for (unsigned chunk = threadIdx.x; chunk < 512; chunk += 128) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address(&operands.a[4 * chunk])), // OTHER
                     "l"(__cvta_generic_to_global(&in[4 * chunk]))
                     : "memory");
    }
    asm volatile("cp.async.wait_all;" ::: "memory"); // OTHER
    if (is_fixed) fence_async();
    __syncthreads();
    float sums[4] = {};
    fence_products();
    multiply(sums, descriptor(operands.a), descriptor(operands.b)); // FAULT: data_race
    commit_products();
    wait_products<0>();
    out[threadIdx.x] = sums[0];
}

extern "C" __global__ void defect(const unsigned* in, float* out) {
    run<false>(in, out);
}

extern "C" __global__ void fixed(const unsigned* in, float* out) {
    run<true>(in, out);
}
