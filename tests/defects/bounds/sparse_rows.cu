// The row pointers have one entry per row, and the end of the last row is read behind them.
// launch: grid=1 block=32 also=80,100
// arg: in:i32[33]=0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,40,42,44,46,48,50,52,54,56,58,60,62,64
// arg: in:f32[64]=1
// arg: buf:f32[33]=0
// expect: 2[31] = 2
template <typename Index, typename Value>
__device__ __forceinline__ Value row_sum(Index begin, Index end, const Value* values) {
    Value sum = 0;
    for (Index k = begin; k < end; ++k) sum += values[k];
    return sum;
}

extern "C" __global__ void defect(const int* row_ptr, const float* values, float* y) {
    for (int row = threadIdx.x; row <= 32; row += blockDim.x) {
        int begin = row_ptr[row];
        int end = row_ptr[row + 1]; // FAULT: out_of_bounds
        y[row] = row_sum(begin, end, values);
    }
}

extern "C" __global__ void fixed(const int* row_ptr, const float* values, float* y) {
    for (int row = threadIdx.x; row < 32; row += blockDim.x) {
        int begin = row_ptr[row];
        int end = row_ptr[row + 1];
        y[row] = row_sum(begin, end, values);
    }
}
