// How many cycles a warp waits for its own results on a GPU, and how fast one multiprocessor gets sectors: what the replay of
// modelled times rests on. Each figure is in hundredths of a cycle.
//
//     lightbench launch tests/benches/latencies/latencies.cu --kernel latencies --device cuda:0 --grid 1 --block 1024 \
//         --arg buf:u32[134217728] --arg u64:134217728 --arg buf:u32[16]=zeros --print 2
//     lightbench launch tests/benches/latencies/latencies.cu --kernel sectors --device cuda:0 --grid 132 --block 1024 \
//         --arg buf:u32[134217728] --arg buf:u64[528]=zeros --print 1
//
// `latencies` writes, in order: 0 L1, 1 L2, 2 memory, 3 shared memory, 4 FFMA, 5 IADD3 of a value that is not known, 6 IMAD,
// 7 DFMA, 8 MUFU.EX2, 9 SHFL, 10 an atomic of global memory that returns, 11 of shared memory, 12 a barrier of 32 warps,
// 13 a branch that is taken, 14 a sum of 64 bits, 15 exact division.
// `sectors` writes for each block the cycles in which its 32 warps moved 64 accesses each: 0 loads of one sector for each lane
// from L2, 1 stores of a word to a sector for each lane, 2 loads of 128 bytes from L2, 3 loads of one sector for each lane
// that L1 has.

#include <cstdint>

constexpr int ROUNDS = 512;

__device__ uint32_t hundredths(long long start, long long end, int rounds) {
    return static_cast<uint32_t>((end - start) * 100 / rounds);
}

// Follows a chain of indices; the last one is given back, so that nothing is left out.
template <bool THROUGH_L2>
__device__ uint32_t chased(const uint32_t* chain, uint32_t at, int rounds) {
    for (int round = 0; round < rounds; ++round) {
        uint32_t next;
        if (THROUGH_L2) {
            asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(next) : "l"(chain + at) : "memory");
        } else {
            asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(next) : "l"(chain + at) : "memory");
        }
        at = next;
    }
    return at;
}

__device__ void link(uint32_t* chain, uint64_t words, uint32_t stride) {
    for (uint64_t at = uint64_t(threadIdx.x) * stride; at < words; at += uint64_t(blockDim.x) * stride) {
        chain[at] = at + stride < words ? static_cast<uint32_t>(at + stride) : 0;
    }
    __threadfence();
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(1024)
latencies(uint32_t* memory, unsigned long long words, uint32_t* told) {
    __shared__ uint32_t shared[1024];
    uint32_t keep = 0;
    // Memory: the whole buffer is written first, so that its beginning has left L2.
    for (uint64_t at = threadIdx.x; at < words; at += blockDim.x) {
        memory[at] = static_cast<uint32_t>((at + 8224) % words);
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        const long long start = clock64();
        keep += chased<true>(memory, 0, ROUNDS);
        told[2] = hundredths(start, clock64(), ROUNDS);
    }
    __syncthreads();
    // L2: a megabyte, gone through once before.
    link(memory, 1 << 18, 32);
    if (threadIdx.x == 0) {
        keep += chased<true>(memory, 0, 1 << 13);
        const long long start = clock64();
        keep += chased<true>(memory, 0, ROUNDS);
        told[1] = hundredths(start, clock64(), ROUNDS);
    }
    __syncthreads();
    // L1: four kibibytes.
    link(memory, 1 << 10, 32);
    if (threadIdx.x == 0) {
        keep += chased<false>(memory, 0, 64);
        const long long start = clock64();
        keep += chased<false>(memory, 0, ROUNDS);
        told[0] = hundredths(start, clock64(), ROUNDS);
    }
    shared[threadIdx.x] = (threadIdx.x + 33) % 1024 * 4;
    __syncthreads();
    if (threadIdx.x < 32) {
        uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(shared)), base = at;
        long long start = clock64();
#pragma unroll 16
        for (int round = 0; round < ROUNDS; ++round) {
            uint32_t next;
            asm volatile("ld.shared.u32 %0, [%1];" : "=r"(next) : "r"(at) : "memory");
            at = base + next;
        }
        uint32_t cycles = hundredths(start, clock64(), ROUNDS);
        keep += at;
        if (threadIdx.x == 0) told[3] = cycles;

        float x = static_cast<float>(threadIdx.x), y = x + 1.0f;
        start = clock64();
#pragma unroll 16
        for (int round = 0; round < ROUNDS; ++round) {
            asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(y));
        }
        cycles = hundredths(start, clock64(), ROUNDS);
        keep += __float_as_uint(x);
        if (threadIdx.x == 0) told[4] = cycles;

        uint32_t i = threadIdx.x, j = keep | 3;
        start = clock64();
#pragma unroll 16
        for (int round = 0; round < ROUNDS; ++round) {
            asm volatile("add.u32 %0, %0, %1;\n\txor.b32 %0, %0, %1;" : "+r"(i) : "r"(j));
        }
        cycles = hundredths(start, clock64(), 2 * ROUNDS);
        keep += i;
        if (threadIdx.x == 0) told[5] = cycles;

        start = clock64();
#pragma unroll 16
        for (int round = 0; round < ROUNDS; ++round) {
            asm volatile("mad.lo.u32 %0, %0, %1, %1;" : "+r"(i) : "r"(j));
        }
        cycles = hundredths(start, clock64(), ROUNDS);
        keep += i;
        if (threadIdx.x == 0) told[6] = cycles;

        double d = x, e = y;
        start = clock64();
#pragma unroll 16
        for (int round = 0; round < ROUNDS; ++round) {
            asm volatile("fma.rn.f64 %0, %0, %1, %1;" : "+d"(d) : "d"(e));
        }
        cycles = hundredths(start, clock64(), ROUNDS);
        keep += static_cast<uint32_t>(__double_as_longlong(d));
        if (threadIdx.x == 0) told[7] = cycles;

        start = clock64();
#pragma unroll 16
        for (int round = 0; round < ROUNDS; ++round) {
            asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
        }
        cycles = hundredths(start, clock64(), ROUNDS);
        keep += __float_as_uint(x);
        if (threadIdx.x == 0) told[8] = cycles;

        start = clock64();
#pragma unroll 16
        for (int round = 0; round < ROUNDS; ++round) {
            i = __shfl_sync(0xffffffffu, i, i & 31);
        }
        cycles = hundredths(start, clock64(), ROUNDS);
        keep += i;
        if (threadIdx.x == 0) told[9] = cycles;

        start = clock64();
        i = 0;
        for (int round = 0; round < 128; ++round) {
            i = atomicAdd(memory + (i & 1) * 32 + threadIdx.x, i | 1);
        }
        cycles = hundredths(start, clock64(), 128);
        keep += i;
        if (threadIdx.x == 0) told[10] = cycles;

        start = clock64();
        i = 0;
        for (int round = 0; round < 128; ++round) {
            i = atomicAdd(shared + (i & 1) * 32 + threadIdx.x, i | 1);
        }
        cycles = hundredths(start, clock64(), 128);
        keep += i;
        if (threadIdx.x == 0) told[11] = cycles;

        unsigned long long wide = keep, more = keep | 1;
        start = clock64();
#pragma unroll 16
        for (int round = 0; round < ROUNDS; ++round) {
            asm volatile("add.u64 %0, %0, %1;" : "+l"(wide) : "l"(more));
        }
        cycles = hundredths(start, clock64(), ROUNDS);
        keep += static_cast<uint32_t>(wide >> 32);
        if (threadIdx.x == 0) told[14] = cycles;

        start = clock64();
        for (int round = 0; round < 128; ++round) {
            y = x / (y + 1.0f);
        }
        cycles = hundredths(start, clock64(), 128);
        keep += __float_as_uint(y);
        if (threadIdx.x == 0) told[15] = cycles;
    }
    __syncthreads();
    long long start = clock64();
    for (int round = 0; round < 128; ++round) {
        __syncthreads();
    }
    uint32_t cycles = hundredths(start, clock64(), 128);
    if (threadIdx.x == 0) told[12] = cycles;
    if (threadIdx.x < 32) {
        uint32_t i = keep | 1;
        start = clock64();
#pragma unroll 1
        for (int round = 0; round < ROUNDS; ++round) {
            asm volatile("add.u32 %0, %0, 1;" : "+r"(i));
        }
        cycles = hundredths(start, clock64(), ROUNDS);
        keep += i;
        if (threadIdx.x == 0) told[13] = cycles;
    }
    if (keep == 0x12345678u) memory[0] = keep;
}

extern "C" __global__ void __launch_bounds__(1024) sectors(uint32_t* memory, unsigned long long* told) {
    // A piece of 128 KiB for each block, all of them in L2 after the first round; the rows of a lane are 256 bytes apart.
    uint32_t* own = memory + blockIdx.x * (1 << 15);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    uint32_t keep = 0;
    for (int at = threadIdx.x; at < 1 << 15; at += blockDim.x) {
        own[at] = at;
    }
    __threadfence();
    for (int kind = 0; kind < 4; ++kind) {
        __syncthreads();
        const long long start = clock64();
#pragma unroll 4
        for (int round = 0; round < 64; ++round) {
            const int scattered = ((warp * 997 + round * 61) * 8 + lane * 1032) & ((1 << 15) - 1);
            const int together = ((warp * 131 + round * 29) * 32 + lane) & ((1 << 15) - 1);
            uint32_t value = 0;
            if (kind == 0) {
                asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(own + scattered));
            } else if (kind == 1) {
                asm volatile("st.global.u32 [%0], %1;" ::"l"(own + scattered), "r"(round));
            } else if (kind == 2) {
                asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(own + together));
            } else {
                const int near = (lane * 264 + (round & 3) * 8) & ((1 << 15) - 1);
                asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(value) : "l"(own + near));
            }
            keep += value;
        }
        __syncthreads();
        if (keep == 0x12345678u) memory[0] = keep;
        if (threadIdx.x == 0) told[blockIdx.x * 4 + kind] = clock64() - start;
    }
}
