/*@ lightbench(
    title: "Reference: a warp for each head of q, in f64",
    steps: [
        launch(kernel: "decode_reference",
               args: ["q", "keys", "values", "table", "newest", "o", "o.magnitude", "heads", "group", "slots", "page"],
               grid: ["heads * group", "batch"], block: [32]),
    ],
) @*/

#include <cuda_bf16.h>

constexpr int d = 128;

// The magnitude is the same mean of |v|: with it, an element in which large terms cancel is not held to the precision
// of what remains.
__global__ void decode_reference(const __nv_bfloat16* q, const __nv_bfloat16* keys, const __nv_bfloat16* values,
                                 const int* table, const int* newest, double* o, double* magnitude, int heads, int group,
                                 int slots, int page) {
    __shared__ double query[d];
    __shared__ double weights[32];
    __shared__ long long places[32];
    const int lane = threadIdx.x;
    const long long place = (static_cast<long long>(blockIdx.y) * gridDim.x + blockIdx.x) * d;
    const int head = blockIdx.x / group;
    for (int index = lane; index < d; index += 32) {
        query[index] = static_cast<double>(__bfloat162float(q[place + index])) / sqrt(static_cast<double>(d));
    }
    __syncwarp();

    // Sums of the tokens so far, relative to the largest of their scores. Lane l has the columns l, l + 32, ...
    const int tokens = newest[blockIdx.y] + 1;
    double most = -1e30;
    double total = 0.0;
    double sums[4] = {};
    double absolutes[4] = {};
    for (int begin = 0; begin < tokens; begin += 32) {
        const int token = begin + lane;
        double score = -1e30;
        if (token < tokens) {
            const long long number = table[static_cast<long long>(blockIdx.y) * slots + token / page];
            places[lane] = ((number * heads + head) * page + token % page) * d;
            score = 0.0;
            for (int index = 0; index < d; ++index) {
                score += query[index] * static_cast<double>(__bfloat162float(keys[places[lane] + index]));
            }
        }
        double next = fmax(most, score);
        for (int distance = 16; distance > 0; distance /= 2) {
            next = fmax(next, __shfl_xor_sync(0xffffffff, next, distance));
        }
        const double scale = exp(most - next);
        const double weight = token < tokens ? exp(score - next) : 0.0;
        weights[lane] = weight;
        double added = weight;
        for (int distance = 16; distance > 0; distance /= 2) {
            added += __shfl_xor_sync(0xffffffff, added, distance);
        }
        most = next;
        total = total * scale + added;
        for (int part = 0; part < 4; ++part) {
            sums[part] *= scale;
            absolutes[part] *= scale;
        }
        __syncwarp();
        for (int index = 0; index < 32 && begin + index < tokens; ++index) {
            for (int part = 0; part < 4; ++part) {
                const double value = __bfloat162float(values[places[index] + lane + 32 * part]);
                sums[part] += weights[index] * value;
                absolutes[part] += weights[index] * fabs(value);
            }
        }
        __syncwarp();
    }
    for (int part = 0; part < 4; ++part) {
        o[place + lane + 32 * part] = sums[part] / total;
        magnitude[place + lane + 32 * part] = absolutes[part] / total;
    }
}
