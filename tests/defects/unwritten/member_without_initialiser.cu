// A class sums what it is given, and its constructor leaves one sum unset.
// launch: grid=1 block=16 as-written also=80,100
// arg: in:f32[64]=2
// arg: buf:f32[16]
// expect: 1[15] = 0
class Moments {
public:
    __device__ explicit Moments(bool both) : sum_(0.0f) {
        if (both) squares_ = 0.0f;
    }
    __device__ void add(float x) { sum_ += x; squares_ += x * x; }
    __device__ float variance(int n) const { float m = sum_ / n; return squares_ / n - m * m; }
private:
    float sum_;
    float squares_;
};

extern "C" __global__ void defect(const float* x, float* out) {
    Moments m(false);
    for (int k = 0; k < 4; k++) m.add(x[threadIdx.x * 4 + k]);
    out[threadIdx.x] = m.variance(4); // FAULT: uninitialized_read
}

extern "C" __global__ void fixed(const float* x, float* out) {
    Moments m(true);
    for (int k = 0; k < 4; k++) m.add(x[threadIdx.x * 4 + k]);
    out[threadIdx.x] = m.variance(4);
}
