/*@ lightbench(
    title: "Vectors that begin at any byte",
    expect: fault(misaligned),
    steps: [
        launch(kernel: "invert", grid: ["ceil_div(n, 256 * 16)"], block: [256]),
    ],
) @*/

// The mistake: the first thread takes the bytes before the first multiple of 16 from its own count, so that all vectors begin one
// byte too late.
// How it shows: the virtual GPU reports an access of 16 bytes at an address that is no multiple of 16.

__global__ void invert(const unsigned char* __restrict__ x, unsigned char* __restrict__ y, long long n) {
    const long long i = (static_cast<long long>(blockIdx.x) * 256 + threadIdx.x) * 16;
    if (i == 0) {
        y[0] = 255 - x[0];
    }
    if (i + 17 <= n) {
        const uint4 v = *reinterpret_cast<const uint4*>(x + i + 1);
        *reinterpret_cast<uint4*>(y + i + 1) = make_uint4(~v.x, ~v.y, ~v.z, ~v.w);
    } else {
        for (long long j = i + 1; j < n; ++j) {
            y[j] = 255 - x[j];
        }
    }
}
