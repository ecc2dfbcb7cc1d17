// The list from `malloc` has room for n nodes, and a terminator is written behind them.
// launch: grid=1 block=4 also=80,100
// arg: buf:i32[4]
// arg: i32:6
// expect: 0[2] = 18
extern "C" __global__ void defect(int* sums, int n) {
    int* list = (int*)malloc(n * sizeof(int));
    if (list == nullptr) return;
    for (int i = 0; i < n; i++) list[i] = threadIdx.x + i % 3;
    list[n] = -1; // FAULT: out_of_bounds
    int sum = 0;
    for (int i = 0; i < n && list[i] >= 0; i++) sum += list[i];
    sums[threadIdx.x] = sum;
    free(list);
}

extern "C" __global__ void fixed(int* sums, int n) {
    int* list = (int*)malloc((n + 1) * sizeof(int));
    if (list == nullptr) return;
    for (int i = 0; i < n; i++) list[i] = threadIdx.x + i % 3;
    list[n] = -1;
    int sum = 0;
    for (int i = 0; list[i] >= 0; i++) sum += list[i];
    sums[threadIdx.x] = sum;
    free(list);
}
