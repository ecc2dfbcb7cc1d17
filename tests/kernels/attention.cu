// Attention of one head in f32 with an online softmax; one warp a query, 64 dimensions.
extern "C" __global__ void attention(const float* q, const float* k, const float* v, float* o, int length, float scale, int causal) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.x * (blockDim.x / 32) + warp;
    if (row >= length) return;
    float2 x = ((const float2*)(q + row * 64))[lane], sum = make_float2(0, 0);
    float highest = -1e30f, total = 0;
    int end = causal ? row + 1 : length;
    for (int j = 0; j < end; j++) {
        float2 y = ((const float2*)(k + j * 64))[lane];
        float dot = x.x * y.x + x.y * y.y;
        for (int d = 16; d; d /= 2) dot += __shfl_xor_sync(~0u, dot, d);
        dot *= scale;
        float next = fmaxf(highest, dot), keep = __expf(highest - next), weight = __expf(dot - next);
        float2 z = ((const float2*)(v + j * 64))[lane];
        sum.x = sum.x * keep + weight * z.x;
        sum.y = sum.y * keep + weight * z.y;
        total = total * keep + weight;
        highest = next;
    }
    ((float2*)(o + row * 64))[lane] = make_float2(sum.x / total, sum.y / total);
}
