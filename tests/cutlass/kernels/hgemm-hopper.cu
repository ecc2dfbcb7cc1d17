/*@ lightbench(
    title: "CuTe: wgmma fed by TMA, a warpgroup that copies and two that multiply",
    libraries: [cutlass],
    arch: specific,
    tensor_maps: [
        (name: "a_map", tensor: "a", box: ["128", "64"], swizzle: b128),
        (name: "b_map", tensor: "b", box: ["128", "64"], swizzle: b128),
    ],
    steps: [
        launch(kernel: "hgemm", args: ["a_map", "b_map", "c", "m", "n", "k"],
               grid: ["ceil_div(m, 128)", "ceil_div(n, 128)"], block: [384], shared: "4 * 32768 + 2048"),
    ],
) @*/

#include <cuda.h>
#include <cute/tensor.hpp>
#include <cutlass/arch/barrier.h>
#include <cutlass/arch/reg_reconfig.h>

using namespace cute;

using Element = bfloat16_t;
using Full = cutlass::arch::ClusterTransactionBarrier;
using Empty = cutlass::arch::ClusterBarrier;

constexpr auto tile = Shape<_128, _128, _64>{};
constexpr int stages = 4;

/// Rows of 128 bytes, the span of the swizzle.
using Stages = decltype(tile_to_shape(GMMA::Layout_K_SW128_Atom<Element>{}, Shape<_128, _64, Int<stages>>{}));

struct Shared {
    Element a[cosize_v<Stages>];
    Element b[cosize_v<Stages>];
    Full full[stages];
    Empty empty[stages];
};

/// Fills the stages as they become empty.
__device__ void copy_tiles(const CUtensorMap& a_map, const CUtensorMap& b_map, Shared& shared, int steps) {
    constexpr int stage_elements = cosize_v<Stages> / stages;
    constexpr auto hint = static_cast<uint64_t>(TMA::CacheHintSm90::EVICT_NORMAL);
    for (int step = 0; step < steps; ++step) {
        const int stage = step % stages;
        // The first turn finds every stage empty: the phase before the first one counts as complete.
        shared.empty[stage].wait(step / stages % 2 ^ 1);
        shared.full[stage].arrive_and_expect_tx(2 * stage_elements * sizeof(Element));
        auto* const barrier = reinterpret_cast<uint64_t*>(&shared.full[stage]);
        SM90_TMA_LOAD_2D::copy(&a_map, barrier, hint, shared.a + stage * stage_elements, step * size<2>(tile),
                               blockIdx.x * size<0>(tile));
        SM90_TMA_LOAD_2D::copy(&b_map, barrier, hint, shared.b + stage * stage_elements, step * size<2>(tile),
                               blockIdx.y * size<1>(tile));
    }
}

__global__ void __launch_bounds__(384, 1)
hgemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, Element* c, int m, int n,
      int k) {
    extern __shared__ unsigned char bytes[];
    // The pattern of the swizzle repeats after 1024 bytes.
    Shared& shared = *reinterpret_cast<Shared*>((reinterpret_cast<size_t>(bytes) + 1023) / 1024 * 1024);
    const int warpgroup = threadIdx.x / 128;
    const int steps = ceil_div(k, size<2>(tile));

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < stages; ++stage) {
            shared.full[stage].init(1);
            shared.empty[stage].init(2);
        }
        cutlass::arch::fence_barrier_init();
    }
    __syncthreads();

    if (warpgroup == 0) {
        cutlass::arch::warpgroup_reg_dealloc<40>();
        if (threadIdx.x == 0) {
            copy_tiles(a_map, b_map, shared, steps);
        }
        return;
    }

    cutlass::arch::warpgroup_reg_alloc<232>();
    const int thread = threadIdx.x - 128;
    // A warpgroup multiplies 64 rows.
    TiledMMA product = make_tiled_mma(SM90_64x128x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::K>{},
                                      Layout<Shape<_2, _1, _1>>{});
    const ThrMMA part = product.get_slice(thread);
    const Tensor a_fragment = part.partition_fragment_A(make_tensor(make_smem_ptr(shared.a), Stages{}));
    const Tensor b_fragment = part.partition_fragment_B(make_tensor(make_smem_ptr(shared.b), Stages{}));

    const Tensor whole = make_tensor(make_gmem_ptr(c), make_shape(m, n), make_stride(n, _1{}));
    const auto block = make_coord(blockIdx.x, blockIdx.y, _);
    Tensor c_mine = part.partition_C(local_tile(whole, tile, block, Step<_1, _1, X>{}));
    const Tensor c_at =
        part.partition_C(local_tile(make_identity_tensor(shape(whole)), tile, block, Step<_1, _1, X>{}));
    Tensor sums = part.make_fragment_C(c_mine);
    clear(sums);

    for (int step = 0; step < steps; ++step) {
        const int stage = step % stages;
        shared.full[stage].wait(step / stages % 2);
        warpgroup_fence_operand(sums);
        warpgroup_arrive();
        gemm(product, a_fragment(_, _, _, stage), b_fragment(_, _, _, stage), sums);
        warpgroup_commit_batch();
        // The products of the step before are done, and with them its stage.
        warpgroup_wait<1>();
        if (step > 0 && thread % 128 == 0) {
            shared.empty[(step - 1) % stages].arrive();
        }
    }
    warpgroup_wait<0>();
    warpgroup_fence_operand(sums);

    CUTE_UNROLL
    for (int index = 0; index < size(sums); ++index) {
        if (elem_less(c_at(index), make_coord(m, n))) {
            c_mine(index) = Element(sums(index));
        }
    }
}
