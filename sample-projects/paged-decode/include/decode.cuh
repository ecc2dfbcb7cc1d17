// Attention of one token to a part of a sequence, by one block: each key and each value is read once for four heads of q.
//
// Half a warp reads a key of 128 elements, 16 bytes a lane. A step of a warp takes 16 tokens, which are always in one page.

#pragma once

#include <cuda_bf16.h>

namespace decode {

constexpr int d = 128;
constexpr int heads_at_once = 4;
constexpr int step = 16;   // tokens
constexpr int warps = 4;
constexpr int columns = 8; // of a lane
constexpr unsigned whole_warp = 0xffffffff;

__device__ __forceinline__ float nothing() {
    return __int_as_float(0xff800000);
}

/// The weight of what was added relative to one maximum when the maximum is another; 0 if nothing was added.
__device__ __forceinline__ float rescaled(float most, float larger) {
    const float factor = 1.4426950408889634f * 0.08838834764831845f; // log2(e) / sqrt(128)
    return most == nothing() ? 0.0f : exp2f((most - larger) * factor);
}

__device__ __forceinline__ void unpack(const uint4& packed, float (&elements)[columns]) {
    const unsigned words[4] = {packed.x, packed.y, packed.z, packed.w};
#pragma unroll
    for (int word = 0; word < 4; ++word) {
        elements[2 * word] = __uint_as_float(words[word] << 16);
        elements[2 * word + 1] = __uint_as_float(words[word] & 0xffff0000u);
    }
}

/// The sums over the 16 lanes of half a warp; each lane gets that of its head, which is (lane % 16) / 4.
__device__ __forceinline__ float sum_of_own_head(const float (&parts)[heads_at_once], int lane) {
    const bool upper = lane & 8;
    float first = upper ? parts[2] : parts[0];
    float second = upper ? parts[3] : parts[1];
    first += __shfl_xor_sync(whole_warp, upper ? parts[0] : parts[2], 8);
    second += __shfl_xor_sync(whole_warp, upper ? parts[1] : parts[3], 8);
    const bool odd = lane & 4;
    float own = odd ? second : first;
    own += __shfl_xor_sync(whole_warp, odd ? first : second, 4);
    own += __shfl_xor_sync(whole_warp, own, 2);
    return own + __shfl_xor_sync(whole_warp, own, 1);
}

/// What the tokens so far add up to, relative to the largest score.
struct State {
    float most;  // of the lane's head
    float total; // of the lane's head, and of the tokens of its half of the warp
    float sums[heads_at_once][columns];
};

struct Cache {
    const __nv_bfloat16* keys;
    const __nv_bfloat16* values;
    const int* table; // of the sequence
    int heads;
    int page;
};

/// Adds `step` tokens from `first` on, of which those before `end` count; there is one at least.
__device__ __forceinline__ void add(State& state, const float (&query)[heads_at_once][columns], const Cache& cache, int head,
                                    int first, int end, int lane) {
    const int half = lane / 16;
    const long long number = cache.table[first / cache.page];
    const long long row = (number * cache.heads + head) * cache.page + first % cache.page + half;
    const long long place = row * d + lane % 16 * columns;
    uint4 keys[step / 2];
    uint4 values[step / 2];
#pragma unroll
    for (int pair = 0; pair < step / 2; ++pair) {
        const bool counts = first + 2 * pair + half < end;
        const long long at = place + 2 * pair * d;
        keys[pair] = counts ? *reinterpret_cast<const uint4*>(cache.keys + at) : uint4{};
        values[pair] = counts ? *reinterpret_cast<const uint4*>(cache.values + at) : uint4{};
    }

    float scores[step / 2];
    float larger = state.most;
#pragma unroll
    for (int pair = 0; pair < step / 2; ++pair) {
        float key[columns];
        unpack(keys[pair], key);
        float parts[heads_at_once] = {};
#pragma unroll
        for (int other = 0; other < heads_at_once; ++other) {
#pragma unroll
            for (int column = 0; column < columns; ++column) {
                parts[other] += query[other][column] * key[column];
            }
        }
        const float score = sum_of_own_head(parts, lane);
        scores[pair] = first + 2 * pair + half < end ? score : nothing();
        larger = fmaxf(larger, scores[pair]);
    }
    larger = fmaxf(larger, __shfl_xor_sync(whole_warp, larger, 16));

    const float scale = rescaled(state.most, larger);
    state.most = larger;
    state.total *= scale;
#pragma unroll
    for (int other = 0; other < heads_at_once; ++other) {
        const float of_head = __shfl_sync(whole_warp, scale, other * 4);
#pragma unroll
        for (int column = 0; column < columns; ++column) {
            state.sums[other][column] *= of_head;
        }
    }
#pragma unroll
    for (int pair = 0; pair < step / 2; ++pair) {
        const float own = rescaled(scores[pair], larger);
        state.total += own;
        float value[columns];
        unpack(values[pair], value);
#pragma unroll
        for (int other = 0; other < heads_at_once; ++other) {
            const float weight = __shfl_sync(whole_warp, own, (lane & 16) + other * 4);
#pragma unroll
            for (int column = 0; column < columns; ++column) {
                state.sums[other][column] += weight * value[column];
            }
        }
    }
}

struct Shared {
    alignas(16) float sums[warps][heads_at_once][d];
    float most[warps][heads_at_once];
    float total[warps][heads_at_once];
};

/// The state of a block for one head and column, from those of its warps.
struct Merged {
    float most;
    float total;
    float sum;
};

/// Attends to the tokens from `begin` to `end` with the heads of q from `first_head` on, of which `count` exist.
/// Afterwards `shared` has the states of the warps.
__device__ __forceinline__ void attend(Shared& shared, const __nv_bfloat16* q, const Cache& cache, int head, int count,
                                       int begin, int end) {
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    float query[heads_at_once][columns] = {};
#pragma unroll
    for (int other = 0; other < heads_at_once; ++other) {
        if (other < count) {
            unpack(*reinterpret_cast<const uint4*>(q + other * d + lane % 16 * columns), query[other]);
        }
    }
    State state = {nothing(), 0.0f, {}};
    for (int first = begin + warp * step; first < end; first += warps * step) {
        add(state, query, cache, head, first, end, lane);
    }
    const float total = state.total + __shfl_xor_sync(whole_warp, state.total, 16);
    if (lane < 16 && lane % 4 == 0) {
        shared.most[warp][lane / 4] = state.most;
        shared.total[warp][lane / 4] = total;
    }
#pragma unroll
    for (int other = 0; other < heads_at_once; ++other) {
        float both[columns];
#pragma unroll
        for (int column = 0; column < columns; ++column) {
            const float own = state.sums[other][column];
            both[column] = own + __shfl_xor_sync(whole_warp, own, 16);
        }
        // Each half of the warp writes half of the columns.
        const bool upper = lane & 16;
        float4* const out = reinterpret_cast<float4*>(&shared.sums[warp][other][lane % 16 * columns]);
        out[lane / 16] = upper ? make_float4(both[4], both[5], both[6], both[7])
                               : make_float4(both[0], both[1], both[2], both[3]);
    }
    __syncthreads();
}

__device__ __forceinline__ Merged merged(const Shared& shared, int other, int column) {
    Merged merged = {nothing(), 0.0f, 0.0f};
#pragma unroll
    for (int warp = 0; warp < warps; ++warp) {
        merged.most = fmaxf(merged.most, shared.most[warp][other]);
    }
#pragma unroll
    for (int warp = 0; warp < warps; ++warp) {
        const float scale = rescaled(shared.most[warp][other], merged.most);
        merged.total += scale * shared.total[warp][other];
        merged.sum += scale * shared.sums[warp][other][column];
    }
    return merged;
}

} // namespace decode
