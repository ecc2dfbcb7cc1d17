// Cellular automata and finite differences: Life on a torus with 32 cells a word, a seven-point stencil that marches
// through planes with registers, and Smith-Waterman along anti-diagonals.
extern "C" __global__ void life_bits(const unsigned* in, unsigned* out, int words, int rows) {
    int w = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
    if (w >= words) return;
    unsigned one = 0, two = 0, four = 0, self = in[r * words + w];
    for (int dr = -1; dr <= 1; dr++) {
        const unsigned* line = in + (r + dr + rows) % rows * words;
        unsigned left = line[(w + words - 1) % words], here = line[w], right = line[(w + 1) % words];
        unsigned n[3] = {__funnelshift_l(left, here, 1), here, __funnelshift_r(here, right, 1)};
        for (int k = 0; k < 3; k++) {
            if (dr == 0 && k == 1) continue;
            unsigned carry = one & n[k];
            one ^= n[k];
            unsigned carry2 = two & carry;
            two ^= carry;
            four |= carry2;  // saturates: four or more
        }
    }
    out[r * words + w] = ~four & two & (one | self);
}

extern "C" __global__ void heat3d(const float* __restrict__ u, float* __restrict__ v, int nx, int ny, int nz, float c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || j < 1 || i >= nx - 1 || j >= ny - 1) return;
    int plane = nx * ny, at = j * nx + i;
    float below = u[at], here = u[at + plane];
    for (int k = 1; k < nz - 1; k++) {
        float above = u[at + (k + 1) * plane];
        const float* p = u + at + k * plane;
        v[at + k * plane] = here + c * (p[-1] + p[1] + p[-nx] + p[nx] + below + above - 6.0f * here);
        below = here;
        here = above;
    }
}

extern "C" __global__ void smith_waterman(const char* a, const char* b, int* best, int m, int n) {
    extern __shared__ int diagonals[];  // three of m + 1
    int *two = diagonals, *one = two + m + 1, *now = one + m + 1;
    for (int i = threadIdx.x; i <= m; i += blockDim.x) two[i] = one[i] = now[i] = 0;
    int mine = 0;
    __syncthreads();
    for (int d = 2; d <= m + n; d++) {
        for (int i = max(1, d - n) + threadIdx.x; i <= min(m, d - 1); i += blockDim.x) {
            int j = d - i;
            int match = two[i - 1] + (a[i - 1] == b[j - 1] ? 3 : -3);
            int gap = max(one[i - 1], one[i]) - 2;
            int h = max(0, max(match, gap));
            now[i] = h;
            mine = max(mine, h);
        }
        __syncthreads();
        if (threadIdx.x == 0) { now[0] = 0; if (d <= m) now[d] = 0; if (d - n >= 1) now[d - n - 1] = 0; }
        int* t = two; two = one; one = now; now = t;
        __syncthreads();
    }
    atomicMax(best, mine);
}
