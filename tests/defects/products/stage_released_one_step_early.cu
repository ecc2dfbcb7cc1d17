// The producer fills the stage of the present step again, although the wait leaves the product of that step pending.
// launch: grid=1 block=128 specific
// arg: in:u32[9216]=1065369472
// arg: buf:f32[128]
// expect: 1[5] = 64
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const unsigned* in, float* out) {
    __shared__ alignas(1024) Operands stages[2];
    __shared__ Barrier full[2];
    if (threadIdx.x == 0) init(&full[1], 1);
    begin(&full[0]);
    const auto load = [&](int step) {
        arrive_expect(&full[step % 2], sizeof(Operands));
        load_bulk(&stages[step % 2], in + 2304 * step, sizeof(Operands), &full[step % 2]); // FAULT: data_race
    };
    if (threadIdx.x == 0) {
        load(0);
        load(1);
    }
    float sums[4] = {};
    fence_products();
    for (int step = 0; step < 4; ++step) {
        wait(&full[step % 2], step / 2);
        multiply(sums, descriptor(stages[step % 2].a), descriptor(stages[step % 2].b)); // OTHER
        commit_products();
        if (is_fixed) wait_products<0>();
        else wait_products<1>();
        __syncthreads();
        if (threadIdx.x == 0 && step + 2 < 4) load(step + 2); // OTHER
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
