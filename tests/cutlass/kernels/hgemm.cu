/*@ lightbench(
    title: "CuTe: mma.sync fed by cp.async",
    libraries: [cutlass],
    steps: [
        launch(kernel: "hgemm", grid: ["ceil_div(n, 128)", "ceil_div(m, 128)"], block: [128], shared: "3 * 2 * 128 * 40 * 2"),
    ],
) @*/

#include <cute/tensor.hpp>

using namespace cute;

using Element = bfloat16_t;

constexpr auto tile = Shape<_128, _128, _32>{};
constexpr int stages = 3;

/// Rows of 80 bytes, 64 of which are used: the eight rows that a warp reads together are in different banks.
using Stages = Layout<Shape<_128, _32, Int<stages>>, Stride<_40, _1, Int<128 * 40>>>;

__global__ void __launch_bounds__(128)
hgemm(const Element* a, const Element* b, Element* c, int m, int n, int k) {
    extern __shared__ __align__(128) unsigned char shared[];
    Element* const first = reinterpret_cast<Element*>(shared);
    const Tensor a_stages = make_tensor(make_smem_ptr(first), Stages{});
    const Tensor b_stages = make_tensor(make_smem_ptr(first + cosize_v<Stages>), Stages{});

    const auto block = make_coord(blockIdx.y, blockIdx.x, _);
    const auto tile_of = [&](auto pointer, int rows, int columns, auto step) {
        const Tensor whole = make_tensor(pointer, make_shape(rows, columns), make_stride(columns, _1{}));
        return local_tile(whole, tile, block, step);
    };
    const auto places_of = [&](int rows, int columns, auto step) {
        return local_tile(make_identity_tensor(make_shape(rows, columns)), tile, block, step);
    };
    const Tensor a_tile = tile_of(make_gmem_ptr(a), m, k, Step<_1, X, _1>{});
    const Tensor b_tile = tile_of(make_gmem_ptr(b), n, k, Step<X, _1, _1>{});
    const Tensor c_tile = tile_of(make_gmem_ptr(c), m, n, Step<_1, _1, X>{});
    const Tensor a_place = places_of(m, k, Step<_1, X, _1>{});
    const Tensor b_place = places_of(n, k, Step<X, _1, _1>{});
    const Tensor c_place = places_of(m, n, Step<_1, _1, X>{});

    // Four threads copy the 64 bytes of a row; what does not exist becomes zero.
    const TiledCopy copy_in = make_tiled_copy(Copy_Atom<SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<uint128_t>, Element>{},
                                              Layout<Shape<_32, _4>, Stride<_4, _1>>{}, Layout<Shape<_1, _8>>{});
    const ThrCopy mine = copy_in.get_slice(threadIdx.x);
    const Tensor a_from = mine.partition_S(a_tile);
    const Tensor b_from = mine.partition_S(b_tile);
    const Tensor a_at = mine.partition_S(a_place);
    const Tensor b_at = mine.partition_S(b_place);
    Tensor a_to = mine.partition_D(a_stages);
    Tensor b_to = mine.partition_D(b_stages);

    const int steps = size<2>(a_tile);
    const auto load = [&](int step) {
        if (step < steps) {
            const auto inside = [](const auto& at, int rows, int columns) {
                // A piece of eight elements is whole or absent, because k is a multiple of 8.
                Tensor mask = make_tensor<bool>(make_shape(size<1>(at), size<2>(at)));
                CUTE_UNROLL
                for (int index = 0; index < size(mask); ++index) {
                    mask(index) = elem_less(at(0, index % size<1>(at), index / size<1>(at)), make_coord(rows, columns));
                }
                return mask;
            };
            copy_if(copy_in, inside(a_at(_, _, _, step), m, k), a_from(_, _, _, step), a_to(_, _, _, step % stages));
            copy_if(copy_in, inside(b_at(_, _, _, step), n, k), b_from(_, _, _, step), b_to(_, _, _, step % stages));
        }
        cp_async_fence();
    };

    // 2 x 2 warps.
    const TiledMMA product =
        make_tiled_mma(SM80_16x8x16_F32BF16BF16F32_TN{}, Layout<Shape<_2, _2>>{}, Tile<_32, _32, _16>{});
    const ThrMMA part = product.get_slice(threadIdx.x);
    const Tensor a_shared = part.partition_A(a_stages);
    const Tensor b_shared = part.partition_B(b_stages);
    Tensor a_fragment = part.make_fragment_A(a_shared(_, _, _, 0));
    Tensor b_fragment = part.make_fragment_B(b_shared(_, _, _, 0));
    const Tensor c_mine = part.partition_C(c_tile);
    const Tensor c_at = part.partition_C(c_place);
    Tensor sums = part.make_fragment_C(c_mine);
    clear(sums);

    load(0);
    load(1);
    for (int step = 0; step < steps; ++step) {
        cp_async_wait<stages - 2>();
        // The tile of this step has arrived for all threads, and nobody reads the one that the next copy replaces.
        __syncthreads();
        load(step + stages - 1);
        copy(a_shared(_, _, _, step % stages), a_fragment);
        copy(b_shared(_, _, _, step % stages), b_fragment);
        gemm(product, a_fragment, b_fragment, sums);
    }

    CUTE_UNROLL
    for (int index = 0; index < size(sums); ++index) {
        if (elem_less(c_at(index), make_coord(m, n))) {
            c_mine(index) = Element(sums(index));
        }
    }
}
