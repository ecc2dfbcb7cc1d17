// A table is read through the read-only cache while another block renews it.
// launch: grid=2 block=32 also=80,100
// arg: buf:i32[64]=iota
// arg: buf:i32[64]
// expect: 1[33] = 33
extern "C" __global__ void defect(int* table, int* out) {
    int i = 32 * blockIdx.x + threadIdx.x;
    out[i] = __ldg(&table[(i + 32) % 64]); // FAULT: data_race
    table[i] = i + 1; // OTHER
}

extern "C" __global__ void fixed(int* table, int* out) {
    int i = 32 * blockIdx.x + threadIdx.x;
    out[i] = __ldg(&table[i]);
    table[i] = i + 1;
}
