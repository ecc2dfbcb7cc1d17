// Philox 4x32-10: counters and keys in, uniform floats out; switch on the distribution.
extern "C" __global__ void random_philox(unsigned seed, float* out, int kind, int n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, c[4] = {i, 0, 0, 0}, k0 = seed, k1 = ~seed;
    for (int r = 0; r < 10; r++) {
        unsigned h0 = __umulhi(0xD2511F53u, c[0]), l0 = 0xD2511F53u * c[0], h1 = __umulhi(0xCD9E8D57u, c[2]), l1 = 0xCD9E8D57u * c[2];
        unsigned d[4] = {h1 ^ c[1] ^ k0, l1, h0 ^ c[3] ^ k1, l0};
        for (int j = 0; j < 4; j++) c[j] = d[j];
        k0 += 0x9E3779B9u; k1 += 0xBB67AE85u;
    }
    if (i >= n) return;
    float u = (c[0] >> 8) * 0x1p-24f + 0x1p-25f, v = (c[1] >> 8) * 0x1p-24f;
    switch (kind) {
        case 0: out[i] = u; break;
        case 1: out[i] = sqrtf(-2 * logf(u)) * cospif(2 * v); break;
        case 2: out[i] = -logf(u); break;
        case 3: out[i] = u < 0.5f ? -1.0f : 1.0f; break;
        case 4: out[i] = tanf(3.14159265f * (v - 0.5f)); break;
        default: out[i] = (float)(c[2] % 7);
    }
}
