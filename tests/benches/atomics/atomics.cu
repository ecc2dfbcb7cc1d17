// How fast a GPU changes memory atomically, by what lanes and warps share: the rates that device sheets state as
// measured. It is a program of its own, because patterns are chosen while it runs:
//
//     nvcc -O3 -arch=native -o atomics tests/benches/atomics/atomics.cu && ./atomics > atomics.csv
//
// A line is one pattern: `places` places, `stride` bytes apart, and how each warp picks among them. `random` picks one
// for each lane, `together` one for the warp, `apart` neighbours for neighbouring lanes, `first` one for lane 0 alone.
// Of the times the shortest of three counts; `updates` are those of lanes.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

enum Pattern { RANDOM, TOGETHER, APART, FIRST };
static const char* const PATTERNS[] = {"random", "together", "apart", "first"};

__device__ uint32_t mixed(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    return x ^ x >> 16;
}

// The place that a lane picks in a step; places are a power of two.
__device__ uint32_t picked(Pattern pattern, uint32_t warp, uint32_t lane, uint32_t step, uint32_t places) {
    const uint32_t of_warp = mixed(warp * 8191U + step);
    const uint32_t place = pattern == RANDOM   ? mixed((warp * 32 + lane) * 4093U + step)
                           : pattern == APART ? of_warp * 32 + lane
                                              : of_warp;
    return place & (places - 1);
}

struct AddU32 {
    static constexpr const char* NAME = "add.u32";
    static constexpr int BYTES = 4;
    static __device__ void change(void* at, uint32_t value) { atomicAdd(static_cast<uint32_t*>(at), value); }
};
struct ReturnU32 {
    static constexpr const char* NAME = "add.u32 returned";
    static constexpr int BYTES = 4;
    static __device__ void change(void* at, uint32_t value) {
        if (atomicAdd(static_cast<uint32_t*>(at), value) == 0xdeadbeefU) __trap();
    }
};
struct CountU32 {
    static constexpr const char* NAME = "add.u32 of 1";
    static constexpr int BYTES = 4;
    static __device__ void change(void* at, uint32_t) { atomicAdd(static_cast<uint32_t*>(at), 1U); }
};
struct MaxU32 {
    static constexpr const char* NAME = "max.u32";
    static constexpr int BYTES = 4;
    static __device__ void change(void* at, uint32_t value) { atomicMax(static_cast<uint32_t*>(at), value); }
};
struct SwapU32 {
    static constexpr const char* NAME = "cas.u32";
    static constexpr int BYTES = 4;
    static __device__ void change(void* at, uint32_t value) {
        if (atomicCAS(static_cast<uint32_t*>(at), value, value + 1) == 0xdeadbeefU) __trap();
    }
};
struct AddU64 {
    static constexpr const char* NAME = "add.u64";
    static constexpr int BYTES = 8;
    static __device__ void change(void* at, uint32_t value) {
        atomicAdd(static_cast<unsigned long long*>(at), static_cast<unsigned long long>(value));
    }
};
struct AddF32 {
    static constexpr const char* NAME = "add.f32";
    static constexpr int BYTES = 4;
    static __device__ void change(void* at, uint32_t value) {
        atomicAdd(static_cast<float*>(at), __uint_as_float(0x3f800000U + value));
    }
};
struct AddF64 {
    static constexpr const char* NAME = "add.f64";
    static constexpr int BYTES = 8;
    static __device__ void change(void* at, uint32_t value) { atomicAdd(static_cast<double*>(at), 1.0 + value); }
};

template <class Update>
__global__ void in_global(char* memory, Pattern pattern, uint32_t places, uint32_t stride, int steps, uint32_t value) {
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t warp = thread / 32, lane = thread % 32;
    if (pattern == FIRST && lane != 0) return;
    for (int step = 0; step < steps; ++step) {
        const size_t place = picked(pattern, warp, lane, step, places);
        Update::change(memory + place * stride, value);
    }
}

template <class Update>
__global__ void in_shared(uint32_t* out, Pattern pattern, uint32_t places, uint32_t stride, int steps, uint32_t value) {
    extern __shared__ char own[];
    for (uint32_t at = threadIdx.x * 4; at < places * stride + 8; at += blockDim.x * 4) {
        *reinterpret_cast<uint32_t*>(own + at) = 0;
    }
    __syncthreads();
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t warp = thread / 32, lane = thread % 32;
    if (pattern != FIRST || lane == 0) {
        for (int step = 0; step < steps; ++step) {
            Update::change(own + picked(pattern, warp, lane, step, places) * stride, value);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = *reinterpret_cast<uint32_t*>(own);
}

static int multiprocessors;
static double clock_ghz;
static char* memory;
constexpr size_t ROOM = 256U << 20;

static void check(cudaError_t result) {
    if (result != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(result));
        std::exit(1);
    }
}

// The shortest of three times in milliseconds.
template <class Launch>
static float shortest(Launch launch) {
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&stop));
    float best = 1e9F;
    for (int round = 0; round < 3; ++round) {
        check(cudaMemset(memory, 0, 1U << 20));
        check(cudaEventRecord(start));
        launch();
        check(cudaEventRecord(stop));
        check(cudaEventSynchronize(stop));
        float taken = 0;
        check(cudaEventElapsedTime(&taken, start, stop));
        if (taken < best) best = taken;
    }
    check(cudaGetLastError());
    check(cudaEventDestroy(start));
    check(cudaEventDestroy(stop));
    return best;
}

static void line(const char* space, const char* update, Pattern pattern, uint32_t places, uint32_t stride,
                 int blocks, double updates, float ms) {
    std::printf("%s,%s,%s,%u,%u,%d,%.0f,%.4f,%.4f,%.4f\n", space, update, PATTERNS[pattern], places, stride, blocks,
                updates, ms, updates / ms / 1e6, updates / (ms * 1e6 * clock_ghz));
}

template <class Update>
static void global(Pattern pattern, uint32_t places, uint32_t stride) {
    if (stride < Update::BYTES || places * size_t{stride} > ROOM) return;
    const int blocks = 8 * multiprocessors, threads = 256;
    const double lanes = pattern == FIRST ? 1.0 / 32 : 1.0;
    const int steps = pattern == FIRST ? 64 : 16;
    const float ms = shortest([&] {
        in_global<Update><<<blocks, threads>>>(memory, pattern, places, stride, steps, 3);
    });
    line("global", Update::NAME, pattern, places, stride, blocks, double{1} * blocks * threads * steps * lanes, ms);
}

template <class Update>
static void shared(Pattern pattern, uint32_t places, uint32_t stride) {
    if (stride < Update::BYTES) return;
    const int blocks = multiprocessors, threads = 1024, steps = 64;
    const double lanes = pattern == FIRST ? 1.0 / 32 : 1.0;
    const size_t room = places * stride + 8;
    if (room > 48U << 10) return;
    const float ms = shortest([&] {
        in_shared<Update><<<blocks, threads, room>>>(reinterpret_cast<uint32_t*>(memory), pattern, places, stride,
                                                     steps, 3);
    });
    line("shared", Update::NAME, pattern, places, stride, blocks, double{1} * blocks * threads * steps * lanes, ms);
}

// How far apart places must be for several units to change them.
template <class Update>
static void by_distance() {
    for (uint32_t stride = 4; stride <= 4U << 20; stride *= 2) {
        for (const uint32_t places : {2U, 32U}) {
            global<Update>(TOGETHER, places, stride);
            global<Update>(RANDOM, places, stride);
        }
    }
}

// From one place to many, side by side.
template <class Update>
static void by_places(uint32_t factor) {
    for (const Pattern pattern : {RANDOM, TOGETHER, APART, FIRST}) {
        for (uint32_t places = 1; places <= 16U << 20; places *= factor) {
            global<Update>(pattern, places, Update::BYTES);
        }
        for (uint32_t places = 1; places <= 8192; places *= factor) {
            shared<Update>(pattern, places, Update::BYTES);
        }
    }
    // One bank.
    shared<Update>(APART, 32, 128);
    std::fflush(stdout);
}

int main() {
    cudaDeviceProp device;
    check(cudaGetDeviceProperties(&device, 0));
    int khz = 0;
    check(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
    multiprocessors = device.multiProcessorCount;
    clock_ghz = khz / 1e6;
    check(cudaMalloc(&memory, ROOM));
    check(cudaMemset(memory, 0, ROOM));
    std::printf("# %s, %d multiprocessors, %.0f MHz\n", device.name, multiprocessors, 1e3 * clock_ghz);
    std::printf("space,update,pattern,places,stride,blocks,updates,ms,per_ns,per_clock\n");
    by_places<AddU32>(2);
    by_distance<AddU32>();
    by_places<AddF32>(2);
    by_distance<AddF32>();
    by_places<CountU32>(4);
    by_places<ReturnU32>(4);
    by_places<MaxU32>(4);
    by_places<SwapU32>(4);
    by_places<AddU64>(4);
    by_places<AddF64>(4);
    return 0;
}
