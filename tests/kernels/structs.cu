// Structures by value, to kernels and functions, with every alignment.
struct Small { char a; short b; int c; };
struct Vector { float x, y, z; };
struct Large { double m[4]; Vector v; Small s[2]; long long l; };
struct alignas(16) Aligned { float4 q; int k; };
__device__ __noinline__ Vector cross(Vector a, Vector b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
__device__ __noinline__ Large twice(Large a, Small s) { for (int i = 0; i < 4; i++) a.m[i] *= 2; a.s[1] = s; a.l += s.c; return a; }
extern "C" __global__ void structs(Small s, Vector v, Large l, Aligned a, const Vector* in, Vector* out, double* sums) {
    int t = threadIdx.x;
    out[t] = cross(in[t], v);
    Large b = twice(l, s);
    sums[t] = b.m[t & 3] + b.v.x + b.s[1].b + b.s[0].a + (double)b.l + a.q.w + a.k;
}
