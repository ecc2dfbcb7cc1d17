// The loader fills the tile of both blocks again when its own block has read it, without asking the other.
// launch: grid=2 block=64
// arg: in:u32[64]=iota
// arg: buf:u32[64]
// expect: 1[35] = 38
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const unsigned* in, unsigned* out) {
    __shared__ alignas(128) unsigned tile[32];
    __shared__ Barrier full, empty;
    const unsigned rank = rank_in_cluster();
    if (threadIdx.x == 0) init(&empty, is_fixed ? 2 : 1);
    begin(&full);
    cluster_barrier();
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0) {
            for (unsigned round = 0; round < 2; ++round) {
                if (round > 0) wait_cluster(&empty, 0);
                arrive_expect(&full, 128);
                if (rank == 0) load_multicast(tile, in + 32 * round, 128, &full, 3); // FAULT: data_race
            }
        }
    } else {
        unsigned sum = 0;
        for (unsigned round = 0; round < 2; ++round) {
            wait(&full, round);
            sum += tile[threadIdx.x - 32]; // OTHER
            fence_async();
            __syncwarp();
            if (threadIdx.x == 32 && round == 0) {
                if (is_fixed) {
                    arrive_at(&empty, 0);
                    arrive_at(&empty, 1);
                } else {
                    arrive(&empty);
                }
            }
        }
        out[32 * blockIdx.x + threadIdx.x - 32] = sum;
    }
    __syncthreads();
    cluster_barrier();
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) defect(const unsigned* in, unsigned* out) {
    run<false>(in, out);
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) fixed(const unsigned* in, unsigned* out) {
    run<true>(in, out);
}
