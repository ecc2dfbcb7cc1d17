/*@ lightbench(
    title: "Reference: 1,024 chunks, one thread each",
    scratch: [(name: "sums", dtype: u32, shape: ["1024"], init: undefined)],
    steps: [
        launch(kernel: "chunk_sums", args: ["x", "sums", "n"], grid: [32], block: [32]),
        launch(kernel: "scan_chunks", args: ["x", "y", "sums", "n"], grid: [32], block: [32]),
    ],
) @*/

// Unsigned, because that is what wraps around by definition.
__global__ void chunk_sums(const int* x, unsigned int* sums, long long n) {
    const int chunk = blockIdx.x * 32 + threadIdx.x;
    const long long length = (n + 1023) / 1024;
    unsigned int sum = 0;
    for (long long index = chunk * length; index < min((chunk + 1) * length, n); ++index) {
        sum += static_cast<unsigned int>(x[index]);
    }
    sums[chunk] = sum;
}

__global__ void scan_chunks(const int* x, int* y, const unsigned int* sums, long long n) {
    const int chunk = blockIdx.x * 32 + threadIdx.x;
    const long long length = (n + 1023) / 1024;
    unsigned int sum = 0;
    for (int before = 0; before < chunk; ++before) {
        sum += sums[before];
    }
    for (long long index = chunk * length; index < min((chunk + 1) * length, n); ++index) {
        sum += static_cast<unsigned int>(x[index]);
        y[index] = static_cast<int>(sum);
    }
}
