// Tables that are only read, chosen between, and reached through a pointer in a table.
// candidate:

__device__ float sines[4] = {0.0f, 1.0f, 0.0f, -1.0f};
__device__ const float cosines[4] = {1.0f, 0.0f, -1.0f, 0.0f};
__constant__ float weights[4];
__device__ const float *const tables[2] = {sines, cosines};

extern "C" __global__ void k(float *out, int choice) {
    const float *table = choice == 1 ? sines : cosines;
    out[threadIdx.x] = table[threadIdx.x & 3] + weights[threadIdx.x & 3] + tables[choice & 1][3];
}
