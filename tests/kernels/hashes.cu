// Checksums and hashes: CRC-32 by a table in constant memory made by the compiler, MurmurHash3;
// and Miller-Rabin with 128-bit products.
#include <cuda/std/cstdint>
#include <cuda/std/array>

constexpr cuda::std::array<uint32_t, 256> make_table() {
    cuda::std::array<uint32_t, 256> t{};
    for (uint32_t i = 0; i < 256; ++i) {
        uint32_t c = i;
        for (int k = 0; k < 8; ++k) c = c & 1 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
        t[i] = c;
    }
    return t;
}
__constant__ cuda::std::array<uint32_t, 256> crc_table = make_table();

extern "C" __global__ void crc32(const unsigned char* data, const int* offsets, unsigned* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint32_t c = ~0u;
    for (int p = offsets[i]; p < offsets[i + 1]; ++p) c = crc_table[(c ^ data[p]) & 0xff] ^ (c >> 8);
    out[i] = ~c;
}

__device__ __forceinline__ uint32_t rotl32(uint32_t x, int8_t r) { return (x << r) | (x >> (32 - r)); }
extern "C" __global__ void murmur3(const uint32_t* keys, uint32_t* out, int words, uint32_t seed, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint32_t h = seed;
    for (int w = 0; w < words; w++) {
        uint32_t k = keys[i * words + w];
        k *= 0xcc9e2d51; k = rotl32(k, 15); k *= 0x1b873593;
        h ^= k; h = rotl32(h, 13); h = h * 5 + 0xe6546b64;
    }
    h ^= words * 4;
    h ^= h >> 16; h *= 0x85ebca6b; h ^= h >> 13; h *= 0xc2b2ae35; h ^= h >> 16;
    out[i] = h;
}

__device__ uint64_t mulmod(uint64_t a, uint64_t b, uint64_t m) { return (unsigned __int128)a * b % m; }
__device__ uint64_t powmod(uint64_t b, uint64_t e, uint64_t m) {
    uint64_t r = 1;
    for (; e; e >>= 1) { if (e & 1) r = mulmod(r, b, m); b = mulmod(b, b, m); }
    return r;
}
extern "C" __global__ void miller_rabin(const uint64_t* candidates, unsigned char* prime, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint64_t c = candidates[i], d = c - 1;
    int s = __ffsll(d) - 1;
    d >>= s;
    bool is_prime = true;
    const uint64_t bases[] = {2, 3, 5, 7, 11, 13};
    for (uint64_t a : bases) {
        if (c == a) break;
        uint64_t x = powmod(a, d, c);
        if (x == 1 || x == c - 1) continue;
        bool composite = true;
        for (int r = 1; r < s && composite; r++) { x = mulmod(x, x, c); if (x == c - 1) composite = false; }
        if (composite) { is_prime = false; break; }
    }
    prime[i] = is_prime;
}
