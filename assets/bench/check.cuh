// Sees what is in memory: whether surroundings of buffers were written to, whether all is zero, and a digest.
#pragma once

struct Extent {
    const unsigned char* start;
    uint64_t length;
};

#define EXTENTS 64

struct Extents {
    Extent each[EXTENTS];
};

struct Changed {
    unsigned long long first;   // the first byte that is not as it was; the largest number before
    unsigned long long behind;  // the byte behind the last such; 0 before
};

// Whether stretches of memory hold one byte throughout; blocks of one row of the grid look at one of them.
extern "C" __global__ void lightbench_holds(Extents extents, uint64_t byte, Changed* changed) {
    const Extent extent = extents.each[blockIdx.y];
    const uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t at = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; at < extent.length; at += stride) {
        if (extent.start[at] != byte) {
            atomicMin(&changed[blockIdx.y].first, (unsigned long long)at);
            atomicMax(&changed[blockIdx.y].behind, (unsigned long long)(at + 1));
        }
    }
}

// Every bit of the result depends on every bit (the finalizer of SplitMix64: S. Vigna, public domain).
static uint64_t mixed(uint64_t word) {
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
    word = (word ^ word >> 27) * 0x94d049bb133111eb;
    return word ^ word >> 31;
}

// Two sums over all words, each mixed with its place: the same in every order. Zeros follow the last byte.
extern "C" __global__ void lightbench_digest(const unsigned char* memory, uint64_t bytes, unsigned long long* digest) {
    const uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
    const bool aligned = ((uint64_t)memory & 7) == 0;
    uint64_t even = 0, odd = 0;
    for (uint64_t index = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; index * 8 < bytes; index += stride) {
        uint64_t word = 0;
        if (aligned && index * 8 + 8 <= bytes) {
            word = ((const uint64_t*)memory)[index];
        } else {
            for (uint64_t byte = 0; byte < 8 && index * 8 + byte < bytes; ++byte) {
                word |= (uint64_t)memory[index * 8 + byte] << (byte * 8);
            }
        }
        const uint64_t place = mixed(index * 0x9e3779b97f4a7c15 + 1);
        even += mixed(word ^ place);
        odd += mixed(word + (place << 1 | 1));
    }
    for (int other = 16; other > 0; other /= 2) {
        even += __shfl_xor_sync(0xffffffff, even, other);
        odd += __shfl_xor_sync(0xffffffff, odd, other);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&digest[0], (unsigned long long)even);
        atomicAdd(&digest[1], (unsigned long long)odd);
    }
}
