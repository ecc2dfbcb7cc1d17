// A reversed copy starts one behind the last element.
// launch: grid=1 block=32
// arg: in:f64[32]=iota
// arg: buf:f64[32]
// expect: 1[0] = 31
template <typename T>
struct Span {
    T* data;
    int size;
    __device__ T& operator[](int i) const { return data[i]; } // FAULT: out_of_bounds
};

template <typename T>
__device__ void reverse(Span<const T> from, Span<T> to, int end) {
    int i = threadIdx.x;
    if (i < from.size) to[i] = from[end - i]; // FAULT: out_of_bounds
}

extern "C" __global__ void defect(const double* in, double* out) {
    reverse<double>({in, 32}, {out, 32}, 32);
}

extern "C" __global__ void fixed(const double* in, double* out) {
    reverse<double>({in, 32}, {out, 32}, 31);
}
