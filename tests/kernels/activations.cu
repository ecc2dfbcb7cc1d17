// Activation functions, elementwise over float4: GELU by tanh and by erf, SiLU, softplus, mish; then SwiGLU of two halves.
enum class Act { GeluTanh, GeluErf, SiLU, Softplus, Mish };

template <Act A> __device__ __forceinline__ float apply(float x) {
    if constexpr (A == Act::GeluTanh) {
        const float kBeta = 0.7978845608028654f, kKappa = 0.044715f;
        return 0.5f * x * (1.0f + tanhf(kBeta * (x + kKappa * x * x * x)));
    } else if constexpr (A == Act::GeluErf) {
        return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f));
    } else if constexpr (A == Act::SiLU) {
        return x / (1.0f + expf(-x));
    } else if constexpr (A == Act::Softplus) {
        return x > 20.0f ? x : log1pf(expf(x));
    } else {
        return x * tanhf(log1pf(expf(x)));
    }
}

template <Act A> __device__ void elementwise(const float* in, float* out, int n) {
    int idx = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (idx + 3 < n) {
        float4 v = *reinterpret_cast<const float4*>(in + idx);
        v.x = apply<A>(v.x); v.y = apply<A>(v.y); v.z = apply<A>(v.z); v.w = apply<A>(v.w);
        *reinterpret_cast<float4*>(out + idx) = v;
    } else {
        for (int i = idx; i < n; ++i) out[i] = apply<A>(in[i]);  // tail
    }
}

extern "C" __global__ void gelu_tanh(const float* in, float* out, int n) { elementwise<Act::GeluTanh>(in, out, n); }
extern "C" __global__ void gelu_erf(const float* in, float* out, int n) { elementwise<Act::GeluErf>(in, out, n); }
extern "C" __global__ void silu(const float* in, float* out, int n) { elementwise<Act::SiLU>(in, out, n); }
extern "C" __global__ void softplus(const float* in, float* out, int n) { elementwise<Act::Softplus>(in, out, n); }
extern "C" __global__ void mish(const float* in, float* out, int n) { elementwise<Act::Mish>(in, out, n); }

extern "C" __global__ void swiglu(const float* __restrict__ gate_up, float* __restrict__ out, int rows, int width) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * width; i += gridDim.x * blockDim.x) {
        int row = i / width, column = i - row * width;
        float gate = gate_up[row * 2 * width + column], up = gate_up[row * 2 * width + width + column];
        out[i] = apply<Act::SiLU>(gate) * up;
    }
}
