// arch: 80
// Warp-wide matching and integer reductions, votes, and every kind of shuffle.
extern "C" __global__ void match_reduce(const int* x, const long long* w, unsigned* out, int n) {
    int t = threadIdx.x, v = x[t];
    int all;
    out[t] = __match_any_sync(~0u, v); out[n + t] = __match_any_sync(~0u, w[t]); out[2 * n + t] = __match_all_sync(~0u, v >> 4, &all) + all;
    out[3 * n + t] = __reduce_add_sync(~0u, v); out[4 * n + t] = __reduce_min_sync(~0u, (unsigned)v); out[5 * n + t] = __reduce_max_sync(~0u, v);
    out[6 * n + t] = __reduce_and_sync(~0u, (unsigned)v) ^ __reduce_or_sync(~0u, (unsigned)v) ^ __reduce_xor_sync(~0u, (unsigned)v);
    out[7 * n + t] = __ballot_sync(~0u, v & 1); out[8 * n + t] = __all_sync(~0u, v >= 0) * 2 + __any_sync(~0u, v == 3) + __uni_sync(~0u, v & 1) * 4;
    out[9 * n + t] = __shfl_sync(~0u, v, (t + 5) & 31) + __shfl_up_sync(~0u, v, 3, 16) + __shfl_down_sync(~0u, v, 2, 8) + __shfl_xor_sync(~0u, v, 9);
    double d = __shfl_xor_sync(~0u, (double)v, 1);
    out[10 * n + t] = (unsigned)d + __popc(__activemask());
    if (v & 1) out[11 * n + t] = __popc(__activemask());
    out[12 * n + t] = __syncthreads_count(v & 1) + __syncthreads_and(v >= 0) + __syncthreads_or(v == 3);
}
