// Elements of every dtype: from bits to numbers, and from numbers to the nearest element (`verify/element.rs`).
#pragma once

enum Kind : uint64_t { WHOLE = 0, DOUBLE = 1, SINGLE = 2, SMALL = 3 };

// How an element is made of bits. What follows `bytes` is for SMALL only: formats of at most 16 bits.
struct Format {
    uint64_t kind;
    uint64_t bytes;
    int64_t digits;    // bits of the significand, the hidden one included
    int64_t smallest;  // exponent of the smallest normal number
    uint64_t largest;  // the magnitude at which rounding stops: infinity, or the largest number
    uint64_t special;  // magnitudes from here on are infinity and NaN
};

static double power_of_two(int64_t exponent) {
    if (exponent >= 1024) return HUGE_VAL;
    if (exponent >= -1022) return __longlong_as_double((exponent + 1023) << 52);
    if (exponent >= -1074) return __longlong_as_double(1LL << (exponent + 1074));
    return 0.0;
}

static uint64_t nearest_small(const Format& format, double value) {
    const uint64_t bits = __double_as_longlong(value);
    const int64_t exponent = (int64_t)(bits >> 52 & 0x7ff) - 1023;
    const uint64_t significand = (bits & 0x000fffffffffffff) | 0x0010000000000000;
    const int64_t below = exponent < format.smallest ? format.smallest - exponent : 0;
    const int64_t wanted = 53 - format.digits + below;
    const int shift = wanted < 63 ? (int)wanted : 63;
    const uint64_t kept = significand >> shift;
    const uint64_t cut = significand & ((1ULL << shift) - 1);
    const uint64_t half = 1ULL << (shift - 1);
    const uint64_t up = cut > half || (cut == half && (kept & 1));
    const uint64_t biased = below > 0 ? 0 : exponent - format.smallest;
    const uint64_t magnitude = (biased << (format.digits - 1)) + kept + up;
    const uint64_t sign = (bits >> 63) << (format.bytes * 8 - 1);
    return (magnitude < format.largest ? magnitude : format.largest) | sign;
}

// The bits of the element nearest to a number that is not NaN.
static uint64_t nearest(const Format& format, double value) {
    if (format.kind == DOUBLE) return __double_as_longlong(value);
    if (format.kind == SINGLE) return __float_as_uint(__double2float_rn(value));
    return nearest_small(format, value);
}

// The number that an element stands for; NaN for what is special.
static double small_number(const Format& format, uint64_t bits) {
    const uint64_t sign = 1ULL << (format.bytes * 8 - 1);
    const uint64_t magnitude = bits & (sign - 1);
    const uint64_t hidden = 1ULL << (format.digits - 1);
    const uint64_t field = magnitude >> (format.digits - 1);
    const uint64_t fraction = magnitude & (hidden - 1);
    const uint64_t significand = field > 0 ? fraction | hidden : fraction;
    const int64_t exponent = (field > 0 ? (int64_t)field - 1 : 0) + format.smallest - (format.digits - 1);
    const double value = (double)significand * power_of_two(exponent);
    if (magnitude >= format.special) return __longlong_as_double(0x7ff8000000000000);
    return bits & sign ? -value : value;
}

static double number(const Format& format, uint64_t bits) {
    if (format.kind == DOUBLE) return __longlong_as_double(bits);
    if (format.kind == SINGLE) return (double)__uint_as_float((uint32_t)bits);
    return small_number(format, bits);
}

// The element at a place of memory, which is aligned to its size.
static uint64_t load(const unsigned char* memory, uint64_t place, uint64_t bytes) {
    if (bytes == 8) return ((const uint64_t*)memory)[place];
    if (bytes == 4) return ((const uint32_t*)memory)[place];
    if (bytes == 2) return ((const uint16_t*)memory)[place];
    return memory[place];
}

static void store(unsigned char* memory, uint64_t place, uint64_t bytes, uint64_t bits) {
    if (bytes == 8) {
        ((uint64_t*)memory)[place] = bits;
    } else if (bytes == 4) {
        ((uint32_t*)memory)[place] = (uint32_t)bits;
    } else if (bytes == 2) {
        ((uint16_t*)memory)[place] = (uint16_t)bits;
    } else {
        memory[place] = (unsigned char)bits;
    }
}
