// Memory from `malloc` is summed before anything is stored in all of it.
// launch: grid=1 block=2
// arg: buf:i32[2]
// arg: i32:8
// expect: 0[1] = 12
extern "C" __global__ void defect(int* out, int n) {
    int* row = (int*)malloc(n * sizeof(int));
    for (int i = 0; i < n; i += 2) row[i] = i;
    int sum = 0;
    for (int i = 0; i < n; i++) sum += row[i];
    out[threadIdx.x] = sum; // FAULT: uninitialized_read
    free(row);
}

extern "C" __global__ void fixed(int* out, int n) {
    int* row = (int*)malloc(n * sizeof(int));
    memset(row, 0, n * sizeof(int));
    for (int i = 0; i < n; i += 2) row[i] = i;
    int sum = 0;
    for (int i = 0; i < n; i++) sum += row[i];
    out[threadIdx.x] = sum;
    free(row);
}
