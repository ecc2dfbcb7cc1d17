// Random numbers from a counter (`random.rs`): Philox 4x32 with ten rounds (J. Salmon et al., "Parallel random numbers:
// as easy as 1, 2, 3", SC 2011), key = seed, counter = (index, part, stream).
#pragma once

struct Words {
    uint32_t a, b, c, d;
};

struct Stream {
    uint64_t seed;
    uint64_t position;

    Words words(uint64_t index, uint32_t part) const {
        Words now = {(uint32_t)index, (uint32_t)(index >> 32), part, (uint32_t)position};
        uint32_t even = (uint32_t)seed, odd = (uint32_t)(seed >> 32);
        for (int round = 0; round < 10; ++round) {
            const uint64_t first = (uint64_t)0xd2511f53u * now.a;
            const uint64_t second = (uint64_t)0xcd9e8d57u * now.c;
            now = {(uint32_t)(second >> 32) ^ now.b ^ even, (uint32_t)second,
                   (uint32_t)(first >> 32) ^ now.d ^ odd, (uint32_t)first};
            even += 0x9e3779b9u;
            odd += 0xbb67ae85u;
        }
        return now;
    }

    uint64_t bits(uint64_t index) const {
        const Words drawn = words(index, 0);
        return (uint64_t)drawn.b << 32 | drawn.a;
    }

    // Mean 0, deviation 1: the sum of twelve even ones.
    double normal(uint64_t index) const {
        uint64_t sum = 0;
        for (uint32_t part = 0; part < 3; ++part) {
            const Words drawn = words(index, part);
            sum += (uint64_t)drawn.a + drawn.b + drawn.c + drawn.d;
        }
        return ((double)sum + 6.0) * power_of_two(-32) - 6.0;
    }
};

// Evenly distributed in [0, 1), in steps of 2^-53.
static double unit(uint64_t bits) {
    return (double)(bits >> 11) * power_of_two(-53);
}

// One of so many integers from the lowest on; 0 stands for 2^64 of them.
static uint64_t whole(uint64_t low, uint64_t count, uint64_t bits) {
    return low + (count == 0 ? bits : __umul64hi(count, bits));
}
