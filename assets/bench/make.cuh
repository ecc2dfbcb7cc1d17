// Makes inputs element by element, and sees whether they still are what was made (`verify/inputs`).
#pragma once

// From a place in memory to the index of the element that lies there: dimensions by falling step.
struct Dimensions {
    uint64_t rank;
    uint64_t steps[8];
    uint64_t counts[8];
    uint64_t weights[8];  // what one step adds to the index

    // False in the gaps between elements.
    bool index(uint64_t place, uint64_t& index) const {
        index = place;
        if (rank == 1 && steps[0] == 1) return place < counts[0];
        index = 0;
        for (uint64_t dimension = 0; dimension < rank; ++dimension) {
            const uint64_t at = place / steps[dimension];
            if (at >= counts[dimension]) return false;
            place -= at * steps[dimension];
            index += at * weights[dimension];
        }
        return place == 0;
    }
};

enum Base : uint64_t {
    NORMAL = 0,     // mean, deviation
    UNIFORM = 1,    // low, high
    INTEGERS = 2,   // low, how many
    CONSTANT = 3,   // the number, or the bits
    MASK = 4,       // density
    CAUSAL = 5,     // rows, columns
    ODD = 6,        // bits
    SPARSE = 7,     // elements, parts, value
    BYTES = 8,      // nothing
    PERMUTATION = 9,  // how many, bits of half a number
    INDICES = 10,     // rows, limit; where rows begin is in the table
};

enum Change : uint64_t { NONE = 0, TIMES = 1, PLUS = 2 };

// One tensor: every member is eight bytes, as `core/tensors/src/encoding/input.rs` writes them.
struct Making {
    Stream stream;
    uint64_t places;  // elements of memory, gaps included
    uint64_t stored;  // bytes of each in memory: those of the format, or 8 for its number as f64
    uint64_t gap;     // the bits of what is no element
    Format format;
    uint64_t base;
    uint64_t first, second, third;  // of the base: integers, or the bits of numbers
    double low, high;               // what the fill allows
    uint64_t tail_choices, tail_exponent;
    double tail_center;
    uint64_t change;
    double amount;
    double least, most;          // what the domain allows
    double vanishing, instead;   // numbers at most so large are replaced
    Dimensions dimensions;
};

static double clamped(double low, double high, double value) {
    const double raised = value < low ? low : value;
    return raised > high ? high : raised;
}

static double odd_number(uint64_t count, uint64_t bits) {
    const uint64_t top = 1ULL << (count - 1);
    return (double)(top | (bits >> 11 & (top - 1)) | 1);
}

// One element in each of equal parts is not 0.
static double sparse_number(const Making& making, uint64_t index) {
    const uint64_t elements = making.first, parts = making.second;
    const uint64_t part = ((index + 1) * parts - 1) / elements;
    const Words drawn = making.stream.words(part, 0);
    const uint64_t low = part * elements / parts, high = (part + 1) * elements / parts;
    const uint64_t random = (uint64_t)drawn.b << 32 | drawn.a;
    if (low + __umul64hi(random, high - low) != index) return 0.0;
    if (making.third == 0) return 1.0;
    if (making.third == 1) return -1.0;
    return odd_number(making.third, (uint64_t)drawn.d << 32 | drawn.c);
}

static bool on_or_below_diagonal(const Making& making, uint64_t index) {
    return index % making.second <= index / making.second % making.first;
}

static double base_number(const Making& making, uint64_t index) {
    const double first = __longlong_as_double(making.first);
    const double second = __longlong_as_double(making.second);
    switch (making.base) {
        case NORMAL: return first + second * making.stream.normal(index);
        case UNIFORM: {
            const double part = unit(making.stream.bits(index));
            return first * (1.0 - part) + second * part;
        }
        case INTEGERS: {
            const uint64_t drawn = whole(making.first, making.second, making.stream.bits(index));
            return (double)(int64_t)drawn;
        }
        case MASK: return unit(making.stream.bits(index)) < first ? 1.0 : 0.0;
        case CAUSAL: return on_or_below_diagonal(making, index) ? 1.0 : 0.0;
        case ODD: return odd_number(making.first, making.stream.bits(index));
        case SPARSE: return sparse_number(making, index);
        default: return first;
    }
}

// A number before it is rounded.
static double drawn_number(const Making& making, uint64_t index) {
    double value = clamped(making.low, making.high, base_number(making, index));
    if (making.tail_choices > 0) {
        const Words drawn = making.stream.words(index, 3);
        if (drawn.a % 64 == 0) {
            const double far = power_of_two(making.tail_exponent + drawn.b % (uint32_t)making.tail_choices);
            value = making.tail_center + (value - making.tail_center) * far;
        }
    }
    if (making.change == TIMES) value = value * making.amount;
    if (making.change == PLUS) value = value + making.amount;
    value = clamped(making.least, making.most, value);
    return fabs(value) <= making.vanishing ? making.instead : value;
}

// The finalizer of MurmurHash3 (A. Appleby, public domain).
static uint32_t mixed(uint32_t word) {
    word = (word ^ word >> 16) * 0x85ebca6bu;
    word = (word ^ word >> 13) * 0xc2b2ae35u;
    return word ^ word >> 16;
}

// Where an index goes: a Feistel network of eight rounds, walked until it falls below the count (`sparse.rs`).
static uint64_t shuffled(const Making& making, uint64_t index) {
    const uint64_t bits = making.second, mask = (1ULL << bits) - 1;
    const Words first = making.stream.words(0, 0), second = making.stream.words(1, 0);
    const uint32_t keys[8] = {first.a, first.b, first.c, first.d, second.a, second.b, second.c, second.d};
    do {
        uint64_t left = index >> bits, right = index & mask;
        for (int round = 0; round < 8; ++round) {
            const uint64_t next = left ^ (mixed((uint32_t)right ^ keys[round]) & mask);
            left = right;
            right = next;
        }
        index = left << bits | right;
    } while (index >= making.first);
    return index;
}

// One from each of as many equal parts as the row of the element is long.
static uint64_t index_in_row(const Making& making, const uint64_t* offsets, uint64_t index) {
    const uint64_t rows = making.first, below = making.second;
    const uint64_t bits = making.stream.bits(index);
    // The first row that ends behind the element.
    uint64_t row = 0, end = rows;
    while (row < end) {
        const uint64_t middle = row + (end - row) / 2;
        if (offsets[middle + 1] <= index) {
            row = middle + 1;
        } else {
            end = middle;
        }
    }
    if (row == rows) return __umul64hi(bits, below);
    const uint64_t length = offsets[row + 1] - offsets[row], position = index - offsets[row];
    const uint64_t low = position * below / length, high = (position + 1) * below / length;
    return low + __umul64hi(bits, high - low);
}

static uint64_t whole_element(const Making& making, const uint64_t* table, uint64_t index) {
    switch (making.base) {
        case INTEGERS: return whole(making.first, making.second, making.stream.bits(index));
        case MASK: return unit(making.stream.bits(index)) < __longlong_as_double(making.first);
        case CAUSAL: return on_or_below_diagonal(making, index);
        case BYTES: {
            const Words drawn = making.stream.words(index / 16, 0);
            const uint32_t words[4] = {drawn.a, drawn.b, drawn.c, drawn.d};
            return words[index / 4 % 4] >> (index % 4 * 8);
        }
        case PERMUTATION: return shuffled(making, index);
        case INDICES: return index_in_row(making, table, index);
        default: return making.first;
    }
}

// What memory holds at a place, as the bytes stored there.
static uint64_t made(const Making& making, const uint64_t* table, uint64_t place) {
    uint64_t index = 0;
    uint64_t bits = making.gap;
    if (making.dimensions.index(place, index)) {
        if (making.format.kind == WHOLE) {
            bits = whole_element(making, table, index);
        } else {
            bits = nearest(making.format, drawn_number(making, index));
            if (making.stored > making.format.bytes) {
                bits = __double_as_longlong(number(making.format, bits));
            }
        }
    }
    return making.stored == 8 ? bits : bits & ((1ULL << (making.stored * 8)) - 1);
}

extern "C" __global__ void lightbench_make(unsigned char* memory, Making making, const uint64_t* table) {
    const uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t place = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; place < making.places; place += stride) {
        store(memory, place, making.stored, made(making, table, place));
    }
}

// Leaves the first byte that is not what was made in `changed`, which holds the largest number before.
extern "C" __global__ void lightbench_still(const unsigned char* memory, Making making, const uint64_t* table,
                                            unsigned long long* changed) {
    const uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t place = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; place < making.places; place += stride) {
        const uint64_t differs = load(memory, place, making.stored) ^ made(making, table, place);
        if (differs != 0) {
            const uint64_t byte = (__ffsll(differs) - 1) / 8;
            atomicMin(changed, (unsigned long long)(place * making.stored + byte));
        }
    }
}
