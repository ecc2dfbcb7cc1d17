/*@ lightbench(
    title: "Tiles of 192 columns, for which the tensor cores read less of shared memory",
    arch: specific,
    params: {"GROUP": [8, 4, 16]},
    tensor_maps: [
        (name: "a_map", tensor: "a", box: ["128", "128"], swizzle: b128, l2_promotion: b256),
        (name: "a_scale_map", tensor: "a_scale", box: ["1", "128"]),
        (name: "b_map", tensor: "b", box: ["96", "128"], swizzle: b128, l2_promotion: b256),
        (name: "c_map", tensor: "c", box: ["64", "64"], swizzle: b128),
    ],
    steps: [
        launch(kernel: "fp8_gemm", args: ["a_map", "a_scale_map", "b_map", "b_scale", "c_map", "m", "n", "k"],
               grid: ["min(device.sms // 2 * 2, ceil_div(m, 256) * ceil_div(n, 192) * 2)"], block: [384],
               cluster: [2], shared: "4 * 41472 + 4 * 8192 + 2048"),
    ],
) @*/

// Against `overlapped`: a product of 64 rows and 192 columns reads 8 KB of shared memory for half as many operations again
// as one of 128 columns, which reads 6 KB, and a tile of a is copied for more columns. There is no room for a second set
// of sums: one and the totals are 192 of the 232 registers of a thread, and a warpgroup adds while the other multiplies.

#include "block.cuh"

using namespace hopper;

constexpr int columns = 192;
constexpr int sums_of_thread = columns / 2;
constexpr int parts = columns / 64;  // each within a block of the scales of b
constexpr int stages = 4;
constexpr int blocks = 2;  // of a cluster, one above the other

constexpr unsigned wide_bytes = (tile + columns) * depth + tile * sizeof(float);

struct WideOperands {
    fp8 a[tile * depth];
    fp8 b[columns * depth];
};

struct Shared {
    WideOperands operands[stages];
    bf16 c[2][2][box];
    float a_scale[stages][tile];
    Barrier full[stages];
    Barrier empty[stages];
};

/// d = a b, or d += a b with `add`, for 64 rows of a and 192 columns of b, 32 deep; both tiles hold rows along k.
__device__ __forceinline__ void multiply(float (&d)[sums_of_thread], unsigned long long a, unsigned long long b,
                                         bool add) {
    asm volatile(
        "{\n\t.reg .pred add;\n\t"
        "setp.ne.b32 add, %98, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n192k32.f32.e4m3.e4m3 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
        "}, %96, %97, add, 1, 1;\n\t}"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
          "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
          "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
          "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
          "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
          "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]),
          "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]),
          "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]),
          "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]),
          "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95])
        : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}

/// The first row and column of the `index`-th tile of a cluster: groups of rows, column by column, so that the
/// clusters that run together read few rows of a and few columns of b.
__device__ __forceinline__ int2 tile_of(int index, int tiles_m, int tiles_n) {
    const int in_group = PARAM_GROUP * tiles_n;
    const int first = index / in_group * PARAM_GROUP;
    const int height = min(tiles_m - first, PARAM_GROUP);
    const int place = index % in_group;
    return make_int2((first + place % height) * tile * blocks, place / height * columns);
}

__global__ void __launch_bounds__(384, 1)
fp8_gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap a_scale_map,
         const __grid_constant__ CUtensorMap b_map, const float* __restrict__ b_scale,
         const __grid_constant__ CUtensorMap c_map, int m, int n, int k) {
    extern __shared__ unsigned char bytes[];
    // The pattern of the swizzle repeats after 1024 bytes.
    Shared& shared = *reinterpret_cast<Shared*>((reinterpret_cast<size_t>(bytes) + 1023) / 1024 * 1024);

    const int warpgroup = threadIdx.x / 128;
    const unsigned rank = rank_in_cluster();
    const int tiles_m = (m + tile * blocks - 1) / (tile * blocks);
    const int tiles_n = (n + columns - 1) / columns;
    const int blocks_n = (n + tile - 1) / tile;
    const int steps = (k + depth - 1) / depth;
    const int clusters = gridDim.x / blocks;

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < stages; ++stage) {
            init(&shared.full[stage], 1);
            init(&shared.empty[stage], 8 * blocks);
        }
        fence_init();
        prefetch(a_map);
        prefetch(a_scale_map);
        prefetch(b_map);
        prefetch(c_map);
    }
    cluster_barrier();

    int stage = 0;
    unsigned parity = 0;
    if (warpgroup == 0) {
        give_registers<40>();
        if (threadIdx.x == 0) {
            for (int index = blockIdx.x / blocks; index < tiles_m * tiles_n; index += clusters) {
                const int2 first = tile_of(index, tiles_m, tiles_n);
                const int row = first.x + rank * tile;
                const int column = first.y + rank * (columns / blocks);
                for (int step = 0; step < steps; ++step) {
                    // All warps of both blocks have read the stage: half of b is written in the other block.
                    wait(&shared.empty[stage], parity ^ 1);
                    Barrier* const full = &shared.full[stage];
                    arrive_expect(full, wide_bytes);
                    load(shared.operands[stage].a, a_map, step * depth, row, full);
                    load_multicast(shared.operands[stage].b + rank * (columns / blocks * depth), b_map, step * depth,
                                   column, full, (1 << blocks) - 1);
                    load(shared.a_scale[stage], a_scale_map, row, step, full);
                    if (++stage == stages) {
                        stage = 0;
                        parity ^= 1;
                    }
                }
            }
        }
        __syncwarp();
    } else {
        take_registers<232>();
        const int consumer = warpgroup - 1;
        int boxes = 0;
        const int thread = threadIdx.x % 128;
        const int row = consumer * 64 + upper_row();
        for (int index = blockIdx.x / blocks; index < tiles_m * tiles_n; index += clusters) {
            const int2 first = tile_of(index, tiles_m, tiles_n);
            const float* scales_of_b[parts];
#pragma unroll
            for (int part = 0; part < parts; ++part) {
                const int block = min((first.y + part * 64) / tile, blocks_n - 1);
                scales_of_b[part] = b_scale + static_cast<long long>(block) * steps;
            }
            float totals[sums_of_thread] = {};
            float sums[sums_of_thread] = {};
            for (int step = 0; step < steps; ++step) {
                float of_b[parts];
#pragma unroll
                for (int part = 0; part < parts; ++part) {
                    of_b[part] = scales_of_b[part][step];
                }
                wait(&shared.full[stage], parity);
                const float upper = shared.a_scale[stage][row];
                const float lower = shared.a_scale[stage][row + 8];
                const unsigned long long left = descriptor(shared.operands[stage].a + consumer * 64 * depth);
                const unsigned long long right = descriptor(shared.operands[stage].b);
                fence_products();
#pragma unroll
                for (int part = 0; part < depth / 32; ++part) {
                    multiply(sums, left + part * 2, right + part * 2, part > 0);
                }
                commit_products();
                wait_products<0>();
                if (thread % 32 < blocks) {
                    arrive_at(&shared.empty[stage], thread % 32);
                }
#pragma unroll
                for (int index = 0; index < sums_of_thread; ++index) {
                    totals[index] += (index / 2 % 2 == 0 ? upper : lower) * of_b[index / 32] * sums[index];
                }
                if (++stage == stages) {
                    stage = 0;
                    parity ^= 1;
                }
            }

            // Out through shared memory, 64 columns at a time; one box is written while the copy of another is read.
#pragma unroll
            for (int part = 0; part < parts; ++part) {
                // A tile has an odd number of boxes: the next one begins in the other place.
                bf16* const out = shared.c[consumer][boxes++ % 2];
                if (thread == 0) {
                    wait_stores_read<1>();
                }
                barrier_of(1 + consumer, 128);
                write_box(out, totals + part * 32);
                fence_async();
                barrier_of(1 + consumer, 128);
                if (thread == 0) {
                    store(c_map, out, first.y + part * 64, first.x + rank * tile + consumer * 64);
                    commit_stores();
                }
            }
        }
        if (thread == 0) {
            wait_stores_read<0>();
        }
        __syncwarp();
    }
    // A block's shared memory exists until the other block has made its last access to it.
    cluster_barrier();
}
