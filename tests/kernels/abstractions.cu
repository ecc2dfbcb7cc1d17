// C++ above the hardware: an expression tree of virtual nodes made with new, lambdas passed to templates, variadic
// packs, a CRTP counter, optional and tuple of the standard library.
#include <cuda/std/optional>
#include <cuda/std/tuple>
#include <cuda/std/utility>

struct Expression {
    __device__ virtual float value(float x) const = 0;
    __device__ virtual ~Expression() {}
};
struct Constant : Expression {
    float c;
    __device__ explicit Constant(float c) : c(c) {}
    __device__ float value(float) const override { return c; }
};
struct Variable : Expression {
    __device__ float value(float x) const override { return x; }
};
template <typename Op> struct Binary : Expression {
    Expression *left, *right;
    Op op;
    __device__ Binary(Expression* l, Expression* r, Op op) : left(l), right(r), op(op) {}
    __device__ ~Binary() override { delete left; delete right; }
    __device__ float value(float x) const override { return op(left->value(x), right->value(x)); }
};
template <typename Op> __device__ Expression* binary(Expression* l, Expression* r, Op op) { return new Binary<Op>(l, r, op); }

template <typename... Fs> __device__ float compose(float x, Fs... fs) { ((x = fs(x)), ...); return x; }

template <typename Derived> struct Countable {
    int count = 0;
    __device__ void bump() { count += static_cast<Derived*>(this)->step(); }
};
struct ByTwo : Countable<ByTwo> { __device__ int step() { return 2; } };
struct ByLane : Countable<ByLane> { __device__ int step() { return threadIdx.x; } };

__device__ cuda::std::optional<int> root_of(int n) {
    for (int r = 0; r * r <= n; r++) if (r * r == n) return r;
    return cuda::std::nullopt;
}
__device__ cuda::std::tuple<int, int> divide(int a, int b) { return {a / b, a % b}; }

extern "C" __global__ void abstractions(const float* x, float* tree, float* chain, int* whole, int n) {
    int t = threadIdx.x;
    if (t >= n) return;
    auto add = [](float a, float b) { return __fadd_rn(a, b); };
    float factor = t % 2 ? 2.0f : 3.0f;
    auto scale = [factor](float a, float b) { return __fmul_rn(__fmul_rn(a, b), factor); };
    Expression* e = t % 3 == 0 ? binary(new Variable, new Constant(1.5f), add)
                               : binary(new Variable, binary(new Constant(2.0f), new Variable, add), scale);
    tree[t] = e->value(x[t]);
    delete e;
    chain[t] = compose(x[t], [](float v) { return v * 2.0f; }, [=](float v) { return v - t; }, [](float v) { return v < 0 ? -v : v; });
    ByTwo a;
    ByLane b;
    for (int i = 0; i < 3; i++) { a.bump(); b.bump(); }
    auto [quotient, rest] = divide(t * 7, 5);
    whole[t] = a.count * 10000 + b.count * 100 + root_of(t).value_or(-1) + quotient + rest;
}
