// Judges outputs (`verify/compare`): whether every element is right, and how far from it the worst is. What is not right
// is counted and not explained: then the host looks.
#pragma once

// Elements that are summed up together, by eight threads; and chunks whose sums are added up by one thread.
#define CHUNK 256
#define LANES 8
#define GROUP 256

// Every member is eight bytes, as `core/tensors/src/encoding/comparison.rs` writes them.
struct Comparing {
    Format format;
    double arithmetic;                 // times the magnitude: what arithmetic may cost
    double unit, least;                // half an ulp of one, and of the smallest numbers
    double saturation;                 // the largest number of a format that saturates
    double typical_reference, typical_magnitude;
    uint64_t chunks;                   // of all runs
    uint64_t chunks_of_run;
    uint64_t rank;
    uint64_t counts[8];                // the last dimension is the run
    uint64_t steps[8];
};

// Sums of squares of one chunk, or of several (`compare/root_mean_square.rs`).
struct Squares {
    int64_t exponent;
    double errors, scales;
    uint64_t count;
};

struct Judged {
    unsigned long long rejected;  // groups of elements with one that is not plainly right
    unsigned long long fraction;  // the bits of the largest error as a fraction of what is accepted
};

struct Run {
    uint64_t offset, step, length;
};

static Run run_of(const Comparing& comparing, uint64_t chunk) {
    uint64_t rest = chunk / comparing.chunks_of_run;
    const uint64_t first = chunk % comparing.chunks_of_run * CHUNK;
    const uint64_t inner = comparing.rank - 1;
    uint64_t offset = first * comparing.steps[inner];
    for (uint64_t dimension = inner; dimension-- > 0;) {
        offset += rest % comparing.counts[dimension] * comparing.steps[dimension];
        rest /= comparing.counts[dimension];
    }
    const uint64_t left = comparing.counts[inner] - first;
    return {offset, comparing.steps[inner], left < CHUNK ? left : CHUNK};
}

// An element beside what it should be.
struct Pair {
    double found, expected, target, magnitude, error, arithmetic, accepted;
};

static Pair pair_at(const Comparing& comparing, const unsigned char* found, const double* expected,
                    const double* magnitudes, uint64_t place) {
    Pair pair;
    pair.found = number(comparing.format, load(found, place, comparing.format.bytes));
    pair.expected = expected[place];
    pair.magnitude = magnitudes[place];
    const double most = comparing.saturation;
    const double cut = pair.expected > most ? most : pair.expected;
    pair.target = cut < -most ? -most : cut;
    const double shown = comparing.arithmetic * pair.magnitude - (fabs(pair.expected) - fabs(pair.target));
    pair.arithmetic = shown > 0.0 ? shown : 0.0;
    const uint64_t power = __double_as_longlong(fabs(pair.target) + pair.arithmetic) & 0x7ff0000000000000;
    const double half = __longlong_as_double(power) * comparing.unit;
    pair.accepted = pair.arithmetic + (half > comparing.least ? half : comparing.least);
    pair.error = fabs(pair.found - pair.target);
    return pair;
}

static double scale_of(const Comparing& comparing, const Pair& pair) {
    return comparing.typical_reference * fabs(pair.target) + comparing.typical_magnitude * pair.magnitude;
}

static void tell(Judged* judged, bool right, double fraction) {
    if (!right) atomicAdd(&judged->rejected, 1ULL);
    if (fraction > 0.0) atomicMax(&judged->fraction, (unsigned long long)__double_as_longlong(fraction));
}

// By the comparator's own bound. Eight neighbouring threads judge a chunk: each adds up every eighth element, and the
// first adds up their sums, in the same order as the host.
extern "C" __global__ void lightbench_compare(const unsigned char* found, const double* expected,
                                              const double* magnitudes, Comparing comparing, Squares* squares,
                                              Judged* judged) {
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t stride = (uint64_t)gridDim.x * blockDim.x / LANES;
    const uint64_t lane = thread % LANES;
    const unsigned group = 0xffu << (threadIdx.x % 32 & 24);
    bool right = true;
    double fraction = 0.0;
    for (uint64_t chunk = thread / LANES; chunk < comparing.chunks; chunk += stride) {
        const Run run = run_of(comparing, chunk);
        double largest = 0.0;
        for (uint64_t index = lane; index < run.length; index += LANES) {
            const Pair pair = pair_at(comparing, found, expected, magnitudes, run.offset + index * run.step);
            // Written so that NaN is not right.
            right &= pair.error <= pair.accepted && pair.error < HUGE_VAL && pair.magnitude >= 0.0 &&
                     pair.magnitude < HUGE_VAL;
            const double part = pair.error / pair.accepted;
            fraction = part > fraction ? part : fraction;
            const double scale = scale_of(comparing, pair);
            largest = scale > largest ? scale : largest;
        }
        for (int other = 1; other < LANES; other *= 2) {
            const double theirs = __shfl_xor_sync(group, largest, other);
            largest = theirs > largest ? theirs : largest;
        }
        Squares sums = {0, 0.0, 0.0, 0};
        if (largest > 0.0) {
            const int64_t biased = __double_as_longlong(largest) >> 52 & 0x7ff;
            sums.exponent = biased < 1 ? 1 : biased > 2045 ? 2045 : biased;
            const double shrink = power_of_two(1023 - sums.exponent);
            for (uint64_t index = lane; index < run.length; index += LANES) {
                const Pair pair = pair_at(comparing, found, expected, magnitudes, run.offset + index * run.step);
                const double excess = pair.error - (pair.accepted - pair.arithmetic);
                const double scale = scale_of(comparing, pair);
                if (scale > 0.0) {
                    const double error = (excess > 0.0 ? excess : 0.0) * shrink;
                    const double part = scale * shrink;
                    sums.errors += error * error;
                    sums.scales += part * part;
                    sums.count += 1;
                }
            }
        }
        Squares whole = {sums.exponent, 0.0, 0.0, 0};
        for (int other = 0; other < LANES; ++other) {
            whole.errors += __shfl_sync(group, sums.errors, other, LANES);
            whole.scales += __shfl_sync(group, sums.scales, other, LANES);
            whole.count += __shfl_sync(group, sums.count, other, LANES);
        }
        if (lane == 0) squares[chunk] = whole;
    }
    tell(judged, right, fraction);
}

// The sum of both, as `SquareSums::and` on the host.
static Squares added(const Squares& a, const Squares& b) {
    const bool first = a.exponent >= b.exponent;
    const Squares large = first ? a : b, small = first ? b : a;
    const double shrink = power_of_two(2 * (small.exponent - large.exponent));
    return {large.exponent, large.errors + small.errors * shrink, large.scales + small.scales * shrink,
            large.count + small.count};
}

// Adds up the sums of each group of chunks, in their order.
extern "C" __global__ void lightbench_add_squares(const Squares* chunks, uint64_t count, Squares* groups) {
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t group = thread; group * GROUP < count; group += stride) {
        const uint64_t first = group * GROUP, left = count - first;
        Squares sum = {0, 0.0, 0.0, 0};
        for (uint64_t index = 0; index < (left < GROUP ? left : GROUP); ++index) sum = added(sum, chunks[first + index]);
        groups[group] = sum;
    }
}

// Equal to the reference rounded to the output's format.
extern "C" __global__ void lightbench_compare_exactly(const unsigned char* found, const double* expected,
                                                      const double* magnitudes, Comparing comparing,
                                                      Judged* judged) {
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t stride = (uint64_t)gridDim.x * blockDim.x / LANES;
    bool right = true;
    double fraction = 0.0;
    for (uint64_t chunk = thread / LANES; chunk < comparing.chunks; chunk += stride) {
        const Run run = run_of(comparing, chunk);
        for (uint64_t index = thread % LANES; index < run.length; index += LANES) {
            const Pair pair = pair_at(comparing, found, expected, magnitudes, run.offset + index * run.step);
            const bool finite = fabs(pair.expected) < HUGE_VAL;
            // A number that is not finite is not rounded here, and left to the host.
            right &= finite && pair.found == number(comparing.format, nearest(comparing.format, pair.expected));
            const double part = pair.error / pair.accepted;
            fraction = part > fraction ? part : fraction;
        }
    }
    tell(judged, right, fraction);
}

// Integers and booleans, bit for bit.
extern "C" __global__ void lightbench_compare_bits(const unsigned char* found, const unsigned char* expected,
                                                   Comparing comparing, Judged* judged) {
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t stride = (uint64_t)gridDim.x * blockDim.x / LANES;
    bool right = true;
    for (uint64_t chunk = thread / LANES; chunk < comparing.chunks; chunk += stride) {
        const Run run = run_of(comparing, chunk);
        for (uint64_t index = thread % LANES; index < run.length; index += LANES) {
            const uint64_t place = run.offset + index * run.step;
            right &= load(found, place, comparing.format.bytes) == load(expected, place, comparing.format.bytes);
        }
    }
    tell(judged, right, 0.0);
}

struct Survey {
    unsigned long long inexact;  // groups of elements with one that is no exact result
    unsigned long long telling;  // groups with one that half precision cannot hold
};

// Whether the reference's results show that every order of additions is exact (`inputs/probe.rs`).
extern "C" __global__ void lightbench_survey(const double* expected, const double* magnitudes, Comparing comparing,
                                             double limit, Survey* survey) {
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t stride = (uint64_t)gridDim.x * blockDim.x / LANES;
    bool exact = true, telling = false;
    for (uint64_t chunk = thread / LANES; chunk < comparing.chunks; chunk += stride) {
        const Run run = run_of(comparing, chunk);
        for (uint64_t index = thread % LANES; index < run.length; index += LANES) {
            const uint64_t place = run.offset + index * run.step;
            const double value = expected[place], magnitude = magnitudes[place];
            const bool sound = trunc(value) == value && fabs(value) <= magnitude && magnitude < limit;
            exact &= sound;
            // Below 2^53, as the limit says.
            telling |= sound && fabs(value) > 2048.0 && ((int64_t)value & 1);
        }
    }
    if (!exact) atomicAdd(&survey->inexact, 1ULL);
    if (telling) atomicAdd(&survey->telling, 1ULL);
}
