// A product of two matrices whose rows are contiguous along the summed dimension, one tile for each block: a warp orders
// copies by the Tensor Memory Accelerator, up to PARAM_STAGES steps ahead, and each of PARAM_GROUPS warpgroups multiplies
// 64 rows by PARAM_COLUMNS columns. PTX ISA, sections "mbarrier", "cp.async.bulk.tensor" and "wgmma".
namespace warpgroup_tiles {

constexpr int rows = 64 * PARAM_GROUPS;
constexpr int columns = PARAM_COLUMNS;
constexpr int depth = 64;  // 128 bytes, the span of the swizzle
constexpr int stages = PARAM_STAGES;

struct Tiles {
    __nv_bfloat16 left[stages][rows * depth];
    __nv_bfloat16 right[stages][columns * depth];
    unsigned long long filled[stages];
    unsigned long long released[stages];
};

// After the products, the sums of each warpgroup lie where the tiles were, so that neighbouring threads get neighbouring
// columns. Rows are 8 longer than a tile, so that a warp writes its sums to different banks.
constexpr int pitch = columns + 8;
static_assert(rows * pitch * sizeof(float) <= stages * (rows + columns) * depth * sizeof(__nv_bfloat16));

__device__ __forceinline__ Tiles& tiles_of_block() {
    extern __shared__ unsigned char shared_bytes[];
    // The pattern of the swizzle repeats after 1024 bytes.
    return *reinterpret_cast<Tiles*>((reinterpret_cast<size_t>(shared_bytes) + 1023) / 1024 * 1024);
}

__device__ __forceinline__ float* sums_of_warpgroup() {
    return reinterpret_cast<float*>(&tiles_of_block()) + threadIdx.x / 128 * 64 * pitch;
}

__device__ __forceinline__ unsigned shared_address(const void* place) {
    return static_cast<unsigned>(__cvta_generic_to_shared(place));
}

__device__ __forceinline__ void init(unsigned long long* barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

/// Waits until the phase with this parity is complete.
__device__ __forceinline__ void wait(unsigned long long* barrier, unsigned parity) {
    asm volatile(
        "{\n\t.reg .pred done;\n\t"
        "again:\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
        "@!done bra again;\n\t}" ::"r"(shared_address(barrier)),
        "r"(parity)
        : "memory");
}

/// Copies a tile; elements outside the matrix are zero.
__device__ __forceinline__ void load(void* to, const CUtensorMap& map, int step, int row, unsigned long long* barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
            shared_address(to)),
        "l"(&map), "r"(step * depth), "r"(row), "r"(shared_address(barrier))
        : "memory");
}

/// The descriptor of a tile that is swizzled over 128 bytes: patterns of 8 rows are 1024 bytes apart.
__device__ __forceinline__ unsigned long long descriptor(const void* tile) {
    const unsigned long long start = (shared_address(tile) & 0x3ffff) >> 4;
    return start | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

// sums += left right: 64 rows, 16 deep.
#define SUMS_4(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define SUMS_16(i) SUMS_4(i), SUMS_4(i + 4), SUMS_4(i + 8), SUMS_4(i + 12)
#define SUMS_32(i) SUMS_16(i), SUMS_16(i + 16)

__device__ __forceinline__ void multiply(float (&sums)[32], unsigned long long left, unsigned long long right) {
    asm volatile(
        "{wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
        "}, %32, %33, 1, 1, 1, 0, 0;}"
        : SUMS_32(0)
        : "l"(left), "l"(right));
}

__device__ __forceinline__ void multiply(float (&sums)[64], unsigned long long left, unsigned long long right) {
    asm volatile(
        "{wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
        "}, %64, %65, 1, 1, 1, 0, 0;}"
        : SUMS_32(0), SUMS_32(32)
        : "l"(left), "l"(right));
}

__device__ __forceinline__ void multiply(float (&sums)[128], unsigned long long left, unsigned long long right) {
    asm volatile(
        "{wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
        "}, %128, %129, 1, 1, 1, 0, 0;}"
        : SUMS_32(0), SUMS_32(32), SUMS_32(64), SUMS_32(96)
        : "l"(left), "l"(right));
}

#undef SUMS_4
#undef SUMS_16
#undef SUMS_32

/// Orders the copies of all steps, each as soon as its stage is released.
__device__ __forceinline__ void copy_tiles(Tiles& tiles, const CUtensorMap& left, const CUtensorMap& right, int steps) {
    for (int step = 0; step < steps; ++step) {
        const int stage = step % stages;
        // In the first turn every stage is free: the phase before the first one counts as complete.
        wait(&tiles.released[stage], step / stages % 2 ^ 1);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&tiles.filled[stage])),
                     "r"(static_cast<unsigned>(sizeof(tiles.left[0]) + sizeof(tiles.right[0])))
                     : "memory");
        load(tiles.left[stage], left, step, static_cast<int>(blockIdx.y) * rows, &tiles.filled[stage]);
        load(tiles.right[stage], right, step, static_cast<int>(blockIdx.x) * columns, &tiles.filled[stage]);
    }
}

/// Barrier `which` of `threads` threads; 0 is that of `__syncthreads`.
__device__ __forceinline__ void barrier(int which, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(which), "r"(threads) : "memory");
}

/// Sums of `length` products each, for a tile. Returns whether this thread has sums: the warp that copies has none.
__device__ __forceinline__ bool multiply(const CUtensorMap& left, const CUtensorMap& right, long long length) {
    Tiles& tiles = tiles_of_block();
    const int steps = static_cast<int>((length + depth - 1) / depth);
    const int warpgroup = threadIdx.x / 128;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < stages; ++stage) {
            init(&tiles.filled[stage], 1);
            init(&tiles.released[stage], PARAM_GROUPS);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (warpgroup == PARAM_GROUPS) {
        if (threadIdx.x % 128 == 0) {
            copy_tiles(tiles, left, right, steps);
        }
        return false;
    }
    float sums[columns / 2] = {};
    for (int step = 0; step < steps; ++step) {
        const int stage = step % stages;
        wait(&tiles.filled[stage], step / stages % 2);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        const unsigned long long a = descriptor(tiles.left[stage] + warpgroup * 64 * depth);
        const unsigned long long b = descriptor(tiles.right[stage]);
#pragma unroll
        for (int part = 0; part < depth / 16; ++part) {
            multiply(sums, a + part * 2, b + part * 2);
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        // The products of the previous step are complete, and with them its stage.
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (step > 0 && threadIdx.x % 128 == 0) {
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(
                             shared_address(&tiles.released[(step - 1) % stages]))
                         : "memory");
        }
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    // No warpgroup reads tiles any more.
    barrier(1, 128 * PARAM_GROUPS);
    // Two neighbouring sums in each of two rows, for each 8 columns.
    const int first_row = static_cast<int>(threadIdx.x) % 128 / 32 * 16 + static_cast<int>(threadIdx.x) % 32 / 4;
    float* const first = sums_of_warpgroup() + first_row * pitch + threadIdx.x % 4 * 2;
#pragma unroll
    for (int part = 0; part < columns / 4; ++part) {
        float* const to = first + part % 2 * 8 * pitch + part / 2 * 8;
        *reinterpret_cast<float2*>(to) = make_float2(sums[part * 2], sums[part * 2 + 1]);
    }
    barrier(2 + warpgroup, 128);
    return true;
}

/// A thread's n-th sum, and its row and column in the tile of the block.
__device__ __forceinline__ float sum(int n) {
    const int at = n * 128 + static_cast<int>(threadIdx.x) % 128;
    return sums_of_warpgroup()[at / columns * pitch + at % columns];
}

__device__ __forceinline__ int row(int n) {
    return static_cast<int>(threadIdx.x) / 128 * 64 + (n * 128 + static_cast<int>(threadIdx.x) % 128) / columns;
}

__device__ __forceinline__ int column(int n) {
    return (n * 128 + static_cast<int>(threadIdx.x) % 128) % columns;
}

}  // namespace warpgroup_tiles

