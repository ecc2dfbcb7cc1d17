// One step of AdamW over a parameter group, state in a structure of pointers by value; bf16 parameters with an f32 master copy.
#include <cuda_bf16.h>
struct AdamState { float* master; float* m; float* v; __nv_bfloat16* param; };
struct AdamConfig { float lr, beta1, beta2, eps, weight_decay; int step; };

extern "C" __global__ void adamw(AdamState st, const float* __restrict__ grad, AdamConfig cfg, size_t n) {
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    const float c1 = 1.0f - powf(cfg.beta1, (float)cfg.step), c2 = 1.0f - powf(cfg.beta2, (float)cfg.step);
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        float g = grad[i];
        float m = cfg.beta1 * st.m[i] + (1.0f - cfg.beta1) * g;
        float v = cfg.beta2 * st.v[i] + (1.0f - cfg.beta2) * g * g;
        st.m[i] = m;
        st.v[i] = v;
        float p = st.master[i];
        p -= cfg.lr * ((m / c1) / (sqrtf(v / c2) + cfg.eps) + cfg.weight_decay * p);
        st.master[i] = p;
        st.param[i] = __float2bfloat16_rn(p);
    }
}
