// Calls by address: a table of functions, a pointer in global memory, virtual functions of two classes.
typedef float (*Operator)(float, float);
__device__ float plus(float a, float b) { return a + b; }
__device__ float times(float a, float b) { return a * b; }
__device__ float least(float a, float b) { return a < b ? a : b; }
__device__ Operator table[3] = {plus, times, least};
__device__ Operator chosen;
struct Shape { __device__ virtual float area() const = 0; __device__ virtual int sides() const { return 4; } };
struct Square : Shape { float a; __device__ Square(float a) : a(a) {} __device__ float area() const override { return a * a; } };
struct Triangle : Shape { float b, h; __device__ Triangle(float b, float h) : b(b), h(h) {} __device__ float area() const override { return b * h / 2; } __device__ int sides() const override { return 3; } };
extern "C" __global__ void function_pointers(const float* x, const int* which, float* y, float* areas) {
    int t = threadIdx.x;
    y[t] = table[which[t]](x[t], 3.0f);
    if (t == 0) chosen = times;
    __syncthreads();
    y[t] += chosen(x[t], 2.0f);
    Square square(x[t]);
    Triangle triangle(x[t], 2.0f);
    const Shape* shape = which[t] & 1 ? (const Shape*)&square : &triangle;
    areas[t] = shape->area() * shape->sides();
}
