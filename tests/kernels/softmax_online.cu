// Softmax with one pass for maximum and sum (Milakov and Gimelshein), float4 loads, pairs reduced by shuffles; columns
// are a multiple of four.
struct __align__(8) MD { float m; float d; };

__device__ __forceinline__ MD reduce_md_op(MD a, MD b) {
    bool a_bigger = (a.m > b.m);
    MD bigger_m = a_bigger ? a : b;
    MD smaller_m = a_bigger ? b : a;
    MD res;
    res.d = bigger_m.d + smaller_m.d * __expf(smaller_m.m - bigger_m.m);
    res.m = bigger_m.m;
    return res;
}

extern "C" __global__ void softmax_online(const float* __restrict__ x, float* __restrict__ y, int V) {
    extern __shared__ MD warp_results[];
    const float4* row = reinterpret_cast<const float4*>(x + blockIdx.x * V);
    float4* out = reinterpret_cast<float4*>(y + blockIdx.x * V);
    MD md_partial;
    md_partial.m = -3.402823466e+38f;
    md_partial.d = 0.0f;
    for (int elem_id = threadIdx.x; elem_id < V / 4; elem_id += blockDim.x) {
        float4 v = row[elem_id];
        float values[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            MD new_elem;
            new_elem.m = values[k];
            new_elem.d = 1.0f;
            md_partial = reduce_md_op(md_partial, new_elem);
        }
    }
#pragma unroll
    for (int offset = 16; offset >= 1; offset >>= 1) {
        MD other;
        other.m = __shfl_xor_sync(0xFFFFFFFFu, md_partial.m, offset);
        other.d = __shfl_xor_sync(0xFFFFFFFFu, md_partial.d, offset);
        md_partial = reduce_md_op(md_partial, other);
    }
    if ((threadIdx.x & 31) == 0) warp_results[threadIdx.x >> 5] = md_partial;
    __syncthreads();
    MD md_total = warp_results[0];
    for (int w = 1; w < blockDim.x / 32; ++w) md_total = reduce_md_op(md_total, warp_results[w]);
    float d_total_inverse = __fdividef(1.0F, md_total.d);
    for (int elem_id = threadIdx.x; elem_id < V / 4; elem_id += blockDim.x) {
        float4 v = row[elem_id];
        out[elem_id] = make_float4(__expf(v.x - md_total.m) * d_total_inverse, __expf(v.y - md_total.m) * d_total_inverse,
                                   __expf(v.z - md_total.m) * d_total_inverse, __expf(v.w - md_total.m) * d_total_inverse);
    }
}
