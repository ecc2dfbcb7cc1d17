// Half precision is assembly in headers that line tables say nothing of.
// candidate:
// toolkit: inline_assembly
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void k(__half *out, __nv_bfloat16 *more) {
    out[0] = __hfma(out[1], out[2], hexp(out[3]));
    more[0] = __hmul(more[1], __float2bfloat16(2.0f));
}
