/*@ lightbench(
    title: "Reference: a warp for each query, in f64",
    steps: [
        launch(kernel: "attention_reference", args: ["q", "k", "v", "o", "o.magnitude", "length", "group", "d: i32", "mask: i32"],
               grid: ["length", "shared * group"], block: [32]),
    ],
) @*/

#include <cuda_bf16.h>

constexpr unsigned whole_warp = 0xffffffff;

// The magnitude is the same mean of |v|: with it, an element in which large terms cancel is not held to the precision
// of what remains.
__global__ void attention_reference(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, double* o,
                                    double* magnitude, int length, int group, int d, int mask) {
    __shared__ double query[128];
    __shared__ double weights[32];
    const int lane = threadIdx.x;
    const int row = blockIdx.x;
    const long long place = (static_cast<long long>(blockIdx.y) * length + row) * d;
    const long long first = static_cast<long long>(blockIdx.y) / group * length * d;
    const int keys = mask == 2 ? row + 1 : length;
    for (int index = lane; index < d; index += 32) {
        query[index] = static_cast<double>(__bfloat162float(q[place + index])) / sqrt(static_cast<double>(d));
    }
    __syncwarp();

    // Sums of the keys so far, relative to the largest of their scores. Lane l has the columns l, l + 32, ...
    double most = -1e30;
    double total = 0.0;
    double sums[4] = {};
    double absolutes[4] = {};
    for (int begin = 0; begin < keys; begin += 32) {
        const int key = begin + lane;
        double score = -1e30;
        if (key < keys) {
            const __nv_bfloat162* const pairs =
                reinterpret_cast<const __nv_bfloat162*>(k + first + static_cast<long long>(key) * d);
            score = 0.0;
            for (int index = 0; index < d / 2; ++index) {
                const float2 pair = __bfloat1622float2(pairs[index]);
                score += query[2 * index] * static_cast<double>(pair.x);
                score += query[2 * index + 1] * static_cast<double>(pair.y);
            }
        }
        double next = fmax(most, score);
        for (int distance = 16; distance > 0; distance /= 2) {
            next = fmax(next, __shfl_xor_sync(whole_warp, next, distance));
        }
        const double scale = exp(most - next);
        const double weight = key < keys ? exp(score - next) : 0.0;
        weights[lane] = weight;
        double added = weight;
        for (int distance = 16; distance > 0; distance /= 2) {
            added += __shfl_xor_sync(whole_warp, added, distance);
        }
        most = next;
        total = total * scale + added;
        for (int part = 0; part < 4; ++part) {
            sums[part] *= scale;
            absolutes[part] *= scale;
        }
        __syncwarp();
        for (int index = 0; index < 32 && begin + index < keys; ++index) {
            const double other = weights[index];
            const __nv_bfloat16* const values = v + first + static_cast<long long>(begin + index) * d + lane;
#pragma unroll
            for (int part = 0; part < 4; ++part) {
                if (32 * part < d) {
                    const double value = __bfloat162float(values[32 * part]);
                    sums[part] += other * value;
                    absolutes[part] += other * fabs(value);
                }
            }
        }
        __syncwarp();
    }
    for (int part = 0; part < 4; ++part) {
        if (32 * part < d) {
            o[place + lane + 32 * part] = sums[part] / total;
            magnitude[place + lane + 32 * part] = absolutes[part] / total;
        }
    }
}
