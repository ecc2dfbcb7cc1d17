/*@ lightbench(
    title: "One launch for all sweeps",
    params: { "BLOCK": [1024, 512, 256] },
    scratch: [(name: "next", dtype: f32, shape: ["height", "width"], init: undefined)],
    steps: [
        launch(kernel: "relax<PARAM_BLOCK>", args: ["start", "u", "next", "height", "width", "sweeps: i32"],
               grid: ["min(ceil_div(height * width, BLOCK), max_active_blocks(\"relax<PARAM_BLOCK>\"))"],
               block: ["BLOCK"], cooperative: true),
    ],
) @*/

// Against `naive`: the blocks stay, and wait for each other between the sweeps (`grid.sync()`), which costs about as
// much as a launch does on the GPU, and nothing on the CPU. Where a plane fits L2 that is most of the time; where it
// does not, nothing is gained.

#include <cooperative_groups.h>

// Not __restrict__: in the next turn the two change places, and a load through the read-only cache could be stale.
template <int BLOCK>
__device__ void sweep(const float* from, float* to, int height, int width) {
    const long long points = static_cast<long long>(height) * width;
    // Left to itself, the compiler unrolls this loop and keeps four 64-bit divisions by the width in registers.
#pragma unroll 1
    for (long long point = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; point < points;
         point += static_cast<long long>(gridDim.x) * BLOCK) {
        const int row = static_cast<int>(point / width);
        const int col = static_cast<int>(point - static_cast<long long>(row) * width);
        const bool is_fixed = row == 0 || col == 0 || row == height - 1 || col == width - 1;
        to[point] = is_fixed ? from[point]
                             : 0.25f * ((from[point - width] + from[point + width]) +
                                        (from[point - 1] + from[point + 1]));
    }
}

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
relax(const float* start, float* u, float* next, int height, int width, int sweeps) {
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    sweep<BLOCK>(start, next, height, width);
    const float* from = next;
    float* to = u;
    for (int done = 1; done < sweeps; ++done) {
        grid.sync();
        sweep<BLOCK>(from, to, height, width);
        float* const written = to;
        to = written == u ? next : u;
        from = written;
    }
}
