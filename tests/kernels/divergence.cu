// Collatz steps: loops of different length in each lane, early exits, nested breaks, goto out.
extern "C" __global__ void divergence(const unsigned* x, unsigned* steps, unsigned* peak, int n, unsigned limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long v = x[i], top = v;
    unsigned s = 0;
    while (v != 1) {
        if (v & 1) v = 3 * v + 1; else v >>= 1;
        if (v > top) top = v;
        if (++s == limit) goto out;
        for (int k = 0; k < 3; k++) { if ((v >> k) & 1) break; if (v == 0) return; }
    }
out:
    steps[i] = s;
    peak[i] = (unsigned)(top > 0xffffffffull ? 0xffffffffu : top);
}
