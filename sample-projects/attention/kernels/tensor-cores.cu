/*@ lightbench(
    title: "Tensor cores of a warp, 64 queries a block",
    constants: ["d", "mask"],
    steps: [
        launch(kernel: "attention", grid: ["ceil_div(length, 64)", "shared * group"], block: [128],
               shared: "2 * 2 * 64 * d * 2"),
    ],
) @*/

// Against `naive`: keys and values come to shared memory once for 64 queries, 64 at a time, and both products run on
// tensor cores. The sums of q kᵀ lie in the registers of a warp just as the left factor of the second product is
// wanted: the weights never leave the registers.

#include <cuda_bf16.h>

using bf16 = __nv_bfloat16;

constexpr int d = AXIS_d;
constexpr bool causal = AXIS_mask == 2;
constexpr int tile = 64;            // queries of a block, keys of a step
constexpr int pieces = d / 8;       // of 16 bytes in a row
constexpr int elements = tile * d;  // of a tile

/// The place of a piece of 8 elements: pieces of 8 rows that are read together lie in different banks.
__device__ __forceinline__ int place(int row, int piece) {
    return row * d + (piece ^ row % 8) * 8;
}

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// Copies 64 rows; rows that do not exist become zero.
__device__ __forceinline__ void copy_tile(bf16* to, const bf16* from, int first, int length) {
#pragma unroll
    for (int index = 0; index < tile * pieces / 128; ++index) {
        const int row = (index * 128 + threadIdx.x) / pieces;
        const int piece = (index * 128 + threadIdx.x) % pieces;
        const bool exists = first + row < length;
        const bf16* const source = exists ? from + static_cast<long long>(first + row) * d + piece * 8 : from;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to + place(row, piece))),
                     "l"(source), "r"(exists ? 16 : 0)
                     : "memory");
    }
}

__device__ __forceinline__ void load_matrices(unsigned (&to)[4], const bf16* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row))
                 : "memory");
}

__device__ __forceinline__ void load_transposed(unsigned (&to)[4], const bf16* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row))
                 : "memory");
}

__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ unsigned pack(float low, float high) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<const unsigned*>(&pair);
}

__global__ void __launch_bounds__(128)
attention(const bf16* __restrict__ q, const bf16* __restrict__ k, const bf16* __restrict__ v, bf16* __restrict__ o,
          int length, int group) {
    extern __shared__ __align__(128) bf16 shared[];
    bf16* const k_tiles = shared;
    bf16* const v_tiles = shared + 2 * elements;
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    // Under a causal mask the last rows have the most keys: they start first.
    const int first_row = static_cast<int>(causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * tile;
    const long long head = static_cast<long long>(blockIdx.y) * length * d;
    const long long shared_head = static_cast<long long>(blockIdx.y) / group * length * d;
    const int steps = ((causal ? min(length, first_row + tile) : length) + tile - 1) / tile;
    const float factor = rsqrtf(static_cast<float>(d)) * 1.44269504f;  // powers of two instead of e

    // The queries pass through the place of the first values.
    copy_tile(v_tiles, q + head, first_row, length);
    copy_tile(k_tiles, k + shared_head, 0, length);
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    unsigned queries[d / 16][4];
#pragma unroll
    for (int part = 0; part < d / 16; ++part) {
        load_matrices(queries[part], v_tiles + place(warp * 16 + lane % 16, part * 2 + lane / 16));
    }
    __syncthreads();
    copy_tile(v_tiles, v + shared_head, 0, length);
    asm volatile("cp.async.commit_group;" ::: "memory");

    float sums[d / 8][4] = {};
    float most[2] = {__int_as_float(0xff800000), __int_as_float(0xff800000)};
    float total[2] = {};
    const int row = first_row + warp * 16 + lane / 4;
    for (int step = 0; step < steps; ++step) {
        asm volatile("cp.async.wait_group 0;" ::: "memory");
        // Keys and values of this step have arrived for all threads, and nobody reads those of the step before.
        __syncthreads();
        const bf16* const keys = k_tiles + step % 2 * elements;
        const bf16* const values = v_tiles + step % 2 * elements;
        if (step + 1 < steps) {
            copy_tile(k_tiles + (step + 1) % 2 * elements, k + shared_head, (step + 1) * tile, length);
            copy_tile(v_tiles + (step + 1) % 2 * elements, v + shared_head, (step + 1) * tile, length);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");

        float scores[tile / 8][4] = {};
#pragma unroll
        for (int part = 0; part < d / 16; ++part) {
#pragma unroll
            for (int pair = 0; pair < tile / 16; ++pair) {
                unsigned b[4];
                load_matrices(b, keys + place(pair * 16 + lane % 16, part * 2 + lane / 16));
                multiply(scores[pair * 2], queries[part], b[0], b[2]);
                multiply(scores[pair * 2 + 1], queries[part], b[1], b[3]);
            }
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int last = causal ? min(length - 1, row + half * 8) : length - 1;
            float larger = most[half];
#pragma unroll
            for (int index = 0; index < tile / 4; ++index) {
                float& score = scores[index / 2][half * 2 + index % 2];
                if (step * tile + index / 2 * 8 + lane % 4 * 2 + index % 2 > last) {
                    score = __int_as_float(0xff800000);
                }
                larger = fmaxf(larger, score);
            }
            larger = fmaxf(larger, __shfl_xor_sync(0xffffffff, larger, 1));
            larger = fmaxf(larger, __shfl_xor_sync(0xffffffff, larger, 2));
            // The first step has a key for every row, so that the maximum is a number.
            const float scale = exp2f((most[half] - larger) * factor);
            most[half] = larger;
            total[half] *= scale;
#pragma unroll
            for (int index = 0; index < tile / 4; ++index) {
                float& score = scores[index / 2][half * 2 + index % 2];
                score = exp2f((score - larger) * factor);
                total[half] += score;
            }
#pragma unroll
            for (int index = 0; index < d / 4; ++index) {
                sums[index / 2][half * 2 + index % 2] *= scale;
            }
        }
#pragma unroll
        for (int part = 0; part < tile / 16; ++part) {
            const float(&left)[4] = scores[part * 2];
            const float(&right)[4] = scores[part * 2 + 1];
            const unsigned weights[4] = {pack(left[0], left[1]), pack(left[2], left[3]), pack(right[0], right[1]),
                                         pack(right[2], right[3])};
#pragma unroll
            for (int pair = 0; pair < d / 16; ++pair) {
                unsigned b[4];
                load_transposed(b, values + place(part * 16 + lane % 16, pair * 2 + lane / 16));
                multiply(sums[pair * 2], weights, b[0], b[1]);
                multiply(sums[pair * 2 + 1], weights, b[2], b[3]);
            }
        }
    }

#pragma unroll
    for (int half = 0; half < 2; ++half) {
        total[half] += __shfl_xor_sync(0xffffffff, total[half], 1);
        total[half] += __shfl_xor_sync(0xffffffff, total[half], 2);
        if (row + half * 8 < length) {
#pragma unroll
            for (int index = 0; index < d / 8; ++index) {
                *reinterpret_cast<unsigned*>(o + head + static_cast<long long>(row + half * 8) * d + index * 8 +
                                             lane % 4 * 2) =
                    pack(sums[index][half * 2] / total[half], sums[index][half * 2 + 1] / total[half]);
            }
        }
    }
}
