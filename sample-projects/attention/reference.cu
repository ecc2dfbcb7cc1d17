/*@ lightbench(
    title: "Reference: a block for each query, in f64",
    steps: [
        launch(kernel: "attention_reference", args: ["q", "k", "v", "o", "o.magnitude", "length", "group", "d: i32", "mask: i32"],
               grid: ["length", "shared * group"], block: [128]),
    ],
) @*/

#include <cuda_bf16.h>

__device__ double score(const __nv_bfloat16* query, const __nv_bfloat16* key, int d) {
    double sum = 0.0;
    for (int index = 0; index < d; ++index) {
        sum += static_cast<double>(__bfloat162float(query[index])) * static_cast<double>(__bfloat162float(key[index]));
    }
    return sum / sqrt(static_cast<double>(d));
}

// The magnitude is the same mean of |v|: with it, an element in which large terms cancel is not held to the precision
// of what remains.
__global__ void attention_reference(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, double* o,
                                    double* magnitude, int length, int group, int d, int mask) {
    __shared__ double shared[128];
    const int row = blockIdx.x;
    const long long place = (static_cast<long long>(blockIdx.y) * length + row) * d;
    const long long first = static_cast<long long>(blockIdx.y) / group * length * d;
    const int keys = mask == 2 ? row + 1 : length;

    double most = -1e30;
    for (int key = threadIdx.x; key < keys; key += 128) {
        most = fmax(most, score(q + place, k + first + static_cast<long long>(key) * d, d));
    }
    shared[threadIdx.x] = most;
    __syncthreads();
    for (int index = 0; index < 128; ++index) {
        most = fmax(most, shared[index]);
    }
    __syncthreads();

    double total = 0.0;
    double sum = 0.0;
    double absolute = 0.0;
    for (int begin = 0; begin < keys; begin += 128) {
        const int key = begin + threadIdx.x;
        shared[threadIdx.x] =
            key < keys ? exp(score(q + place, k + first + static_cast<long long>(key) * d, d) - most) : 0.0;
        __syncthreads();
        for (int index = 0; index < 128 && begin + index < keys; ++index) {
            total += shared[index];
            if (threadIdx.x < d) {
                const double value = __bfloat162float(v[first + static_cast<long long>(begin + index) * d + threadIdx.x]);
                sum += shared[index] * value;
                absolute += shared[index] * fabs(value);
            }
        }
        __syncthreads();
    }
    if (threadIdx.x < d) {
        o[place + threadIdx.x] = sum / total;
        magnitude[place + threadIdx.x] = absolute / total;
    }
}
