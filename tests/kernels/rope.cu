// Rotary position embedding in place, neighbouring pairs; queries and keys with different numbers of heads.
extern "C" __global__ void rope(float* q, float* k, const int* positions, int q_heads, int k_heads, int head_dim, float theta) {
    int token = blockIdx.x, half_dim = head_dim / 2;
    float pos = (float)positions[token];
    for (int i = threadIdx.x; i < (q_heads + k_heads) * half_dim; i += blockDim.x) {
        int head = i / half_dim, d = i % half_dim;
        float freq = powf(theta, -2.0f * d / head_dim);
        float s, c;
        sincosf(pos * freq, &s, &c);
        float2* v = head < q_heads ? (float2*)(q + (token * q_heads + head) * head_dim) + d
                                   : (float2*)(k + (token * k_heads + head - q_heads) * head_dim) + d;
        float2 p = *v;
        *v = make_float2(p.x * c - p.y * s, p.x * s + p.y * c);
    }
}
