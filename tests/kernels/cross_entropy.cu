// Loss of a classifier and its gradient: logits become (softmax - one_hot) / rows in place; targets below zero are ignored.
#define FLT_LOWEST (-3.402823466e+38f)
__device__ float warp_max(float v) { for (int o = 16; o; o >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, o)); return v; }
__device__ float warp_sum(float v) { for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o); return v; }

extern "C" __global__ void cross_entropy(float* logits, const int* targets, float* losses, float* mean, int rows, int classes) {
    int warps_per_block = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int row = blockIdx.x * warps_per_block + warp; row < rows; row += gridDim.x * warps_per_block) {
        float* l = logits + (size_t)row * classes;
        int target = targets[row];
        if (target < 0) {
            if (lane == 0) losses[row] = 0.0f;
            for (int i = lane; i < classes; i += 32) l[i] = 0.0f;
            continue;
        }
        float highest = FLT_LOWEST;
        for (int i = lane; i < classes; i += 32) highest = fmaxf(highest, l[i]);
        highest = warp_max(highest);
        float total = 0.0f;
        for (int i = lane; i < classes; i += 32) total += expf(l[i] - highest);
        total = warp_sum(total);
        float log_total = logf(total);
        if (lane == 0) {
            float loss = log_total - (l[target] - highest);
            losses[row] = loss;
            atomicAdd(mean, loss / rows);
        }
        __syncwarp();
        for (int i = lane; i < classes; i += 32) {
            float p = expf(l[i] - highest - log_total);
            l[i] = (p - (i == target ? 1.0f : 0.0f)) / rows;
        }
    }
}
