/*@ lightbench(
    title: "16-byte loads and stores, one vector per thread",
    params: { "BLOCK": [256, 128, 512, 1024] },
    steps: [
        launch(kernel: "vector_add<PARAM_BLOCK>", grid: ["ceil_div(n, 4 * BLOCK)"], block: ["BLOCK"]),
    ],
) @*/

// Against `naive`: each thread handles four neighbouring elements as one float4, so a warp moves
// 512 bytes per instruction instead of 128, with a quarter of the instructions, index arithmetic and
// blocks. Against `grid-stride`: no loop at all; the hardware's block scheduler walks instead.

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
vector_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, long long n) {
    const long long first = 4 * (static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x);
    if (first + 4 <= n) {
        // Legal because buffers start at a multiple of 256 bytes and `first` is a multiple of four.
        const float4 left = *reinterpret_cast<const float4*>(a + first);
        const float4 right = *reinterpret_cast<const float4*>(b + first);
        *reinterpret_cast<float4*>(c + first) =
            make_float4(left.x + right.x, left.y + right.y, left.z + right.z, left.w + right.w);
    } else {
        // At most one thread of the whole grid has one, two or three elements left. Unrolling this loop, as the
        // compiler would, costs registers in every thread and helps none.
#pragma unroll 1
        for (long long index = first; index < n; ++index) {
            c[index] = a[index] + b[index];
        }
    }
}
