// Fibonacci, Ackermann, and an in-place quicksort by recursion.
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
__device__ __noinline__ void quicksort(int* x, int low, int high) {
    if (low >= high) return;
    int pivot = x[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (x[i] < pivot) i++;
        while (x[j] > pivot) j--;
        if (i <= j) { int t = x[i]; x[i++] = x[j]; x[j--] = t; }
    }
    quicksort(x, low, j);
    quicksort(x, i, high);
}
extern "C" __global__ void recursion(int* f, int* a, int* x, int n) {
    f[threadIdx.x] = fibonacci(threadIdx.x % 12);
    if (threadIdx.x == 0) { *a = ackermann(2, 3); quicksort(x, 0, n - 1); }
}
