/*@ lightbench(
    title: "Two warpgroups take turns: products of one, exponentials of the other",
    arch: specific,
    constants: ["d", "mask"],
    params: {"CONSUMERS": [2, 3], "KEYS": [128]},
    // Narrow heads leave registers for a third warpgroup.
    require: ["CONSUMERS == 4 - d // 64"],
    tensor_maps: [
        (name: "q_map", tensor: "q", box: ["1", "64 * CONSUMERS", "64"], swizzle: b128),
        (name: "k_map", tensor: "k", box: ["1", "KEYS", "64"], swizzle: b128),
        (name: "v_map", tensor: "v", box: ["1", "KEYS", "64"], swizzle: b128),
        (name: "o_map", tensor: "o", box: ["1", "64", "64"], swizzle: b128),
    ],
    steps: [
        launch(kernel: "attention", args: ["q_map", "k_map", "v_map", "o_map", "length", "group"],
               grid: ["shared * group", "ceil_div(length, 64 * CONSUMERS)"], block: ["128 * (CONSUMERS + 1)"],
               shared: "2 * d * (64 * CONSUMERS + 4 * KEYS) + 2048"),
    ],
) @*/

// Against `asynchronous`: exponentials take as long as the products of a tile, on another unit. So two warpgroups take
// turns: while one has its products on the tensor cores, the other computes exponentials. Within a warpgroup, the
// scores of the next step run together with the weighted sum of this one.

#include "hopper.cuh"

using namespace hopper;

constexpr int d = AXIS_d;
constexpr bool causal = AXIS_mask == 2;
constexpr int consumers = PARAM_CONSUMERS;
constexpr int rows = 64 * consumers;  // queries of a block
constexpr int keys = PARAM_KEYS;      // of a step
constexpr int stages = 2;
constexpr int boxes = d / 64;         // of 64 columns
#define lowest __int_as_float(0xff800000)  // minus infinity

struct Shared {
    bf16 q[boxes][rows * 64];
    bf16 k[stages][boxes][keys * 64];
    bf16 v[stages][boxes][keys * 64];
    Barrier q_full;
    Barrier k_full[stages];
    Barrier k_empty[stages];
    Barrier v_full[stages];
    Barrier v_empty[stages];
};

/// The state of two rows: 8 rows apart, as a thread holds them.
struct Rows {
    float most[2];
    float sum[2];
};

__device__ __forceinline__ void mask(float (&scores)[keys / 2], int first_key, int query, int length) {
    const int column = first_key + threadIdx.x % 4 * 2;
#pragma unroll
    for (int index = 0; index < keys / 2; ++index) {
        const int key = column + index / 4 * 8 + index % 2;
        const int last = causal ? min(length - 1, query + index / 2 % 2 * 8) : length - 1;
        if (key > last) {
            scores[index] = lowest;
        }
    }
}

/// Replaces scores by exponentials; `scale` is what earlier sums are multiplied by.
__device__ __forceinline__ void exponentials(float (&scores)[keys / 2], Rows& state, float (&scale)[2], float factor) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float most = state.most[half];
#pragma unroll
        for (int index = 0; index < keys / 2; ++index) {
            if (index / 2 % 2 == half) {
                most = fmaxf(most, scores[index]);
            }
        }
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 1));
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 2));
        // A row without any key so far: all exponentials are zero.
        const float base = most == lowest ? 0.0f : most;
        scale[half] = exp2_approximate((state.most[half] - base) * factor);
        state.most[half] = most;
        float sum = 0.0f;
#pragma unroll
        for (int index = 0; index < keys / 2; ++index) {
            if (index / 2 % 2 == half) {
                // Not `scores[index] * factor - base * factor`: its rounding error grows with the scores.
                scores[index] = exp2_approximate((scores[index] - base) * factor);
                sum += scores[index];
            }
        }
        state.sum[half] = state.sum[half] * scale[half] + sum;
    }
}

__device__ __forceinline__ void narrow(unsigned (&to)[keys / 4], const float (&from)[keys / 2]) {
#pragma unroll
    for (int index = 0; index < keys / 4; ++index) {
        to[index] = pack(from[2 * index], from[2 * index + 1]);
    }
}

__global__ void __launch_bounds__(128 * (consumers + 1), 1)
attention(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
          const __grid_constant__ CUtensorMap v_map, const __grid_constant__ CUtensorMap o_map, int length,
          int group) {
    extern __shared__ unsigned char bytes[];
    // The pattern of the swizzle repeats after 1024 bytes.
    Shared& shared = *reinterpret_cast<Shared*>((reinterpret_cast<size_t>(bytes) + 1023) / 1024 * 1024);
    const int warpgroup = threadIdx.x / 128;
    // Under a causal mask the last rows have the most keys: they start first.
    const int head = blockIdx.x;
    const int first_row = static_cast<int>(causal ? gridDim.y - 1 - blockIdx.y : blockIdx.y) * rows;
    const int last_key = causal ? min(length, first_row + rows) : length;
    const int steps = (last_key + keys - 1) / keys;
    const float factor = rsqrtf(static_cast<float>(d)) * 1.44269504f;  // powers of two instead of e

    if (threadIdx.x == 0) {
        init(&shared.q_full, 1);
        for (int stage = 0; stage < stages; ++stage) {
            init(&shared.k_full[stage], 1);
            init(&shared.v_full[stage], 1);
            init(&shared.k_empty[stage], consumers);
            init(&shared.v_empty[stage], consumers);
        }
        fence_init();
    }
    __syncthreads();

    if (warpgroup == 0) {
        give_registers<consumers == 2 ? 24 : 32>();
        if (threadIdx.x == 0) {
            arrive_expect(&shared.q_full, sizeof(shared.q));
            for (int box = 0; box < boxes; ++box) {
                load(shared.q[box], q_map, box * 64, first_row, head, &shared.q_full);
            }
            // From the last keys to the first, so that the steps that mask come first.
            for (int step = 0; step < steps; ++step) {
                const int stage = step % stages;
                const int first_key = (steps - 1 - step) * keys;
                const unsigned parity = step / stages % 2 ^ 1;
                wait(&shared.k_empty[stage], parity);
                arrive_expect(&shared.k_full[stage], sizeof(shared.k[0]));
                for (int box = 0; box < boxes; ++box) {
                    load(shared.k[stage][box], k_map, box * 64, first_key, head / group, &shared.k_full[stage]);
                }
                wait(&shared.v_empty[stage], parity);
                arrive_expect(&shared.v_full[stage], sizeof(shared.v[0]));
                for (int box = 0; box < boxes; ++box) {
                    load(shared.v[stage][box], v_map, box * 64, first_key, head / group, &shared.v_full[stage]);
                }
            }
        }
        return;
    }

    take_registers<consumers == 2 ? 240 : 160>();
    const int consumer = warpgroup - 1;
    const int thread = threadIdx.x % 128;
    const int warp = thread / 32;
    const int lane = thread % 32;
    const int query = first_row + consumer * 64 + warp * 16 + lane / 4;

    float scores[keys / 2];
    float out[d / 2];
    unsigned weights[keys / 4];
    Rows state = {{lowest, lowest}, {0.0f, 0.0f}};
    float scale[2];
#pragma unroll
    for (int index = 0; index < d / 2; ++index) {
        out[index] = 0.0f;
    }

    // Barrier 1 + i: the turn of warpgroup i to issue products.
    const auto my_turn = [&] {
        barrier_of(1 + consumer, 256);
    };
    const auto next_turn = [&](bool is_last) {
        if (!(is_last && consumer == consumers - 1)) {
            arrive_at_barrier_of(1 + (consumer + 1) % consumers, 256);
        }
    };
    const auto score = [&](int step) {
        const int stage = step % stages;
        wait(&shared.k_full[stage], step / stages % 2);
        my_turn();
        keep(scores);
        fence_products();
#pragma unroll
        for (int part = 0; part < d / 16; ++part) {
            const unsigned long long q =
                descriptor(shared.q[part / 4] + consumer * 64 * 64) + part % 4 * 2;
            const unsigned long long k = descriptor(shared.k[stage][part / 4]) + part % 4 * 2;
            if (part == 0) {
                multiply<false>(scores, q, k);
            } else {
                multiply<true>(scores, q, k);
            }
        }
        commit_products();
    };
    const auto apply = [&](int step) {
        const int stage = step % stages;
        wait(&shared.v_full[stage], step / stages % 2);
        keep(out);
        fence_products();
        const unsigned long long v = descriptor(shared.v[stage][0], sizeof(shared.v[0][0]));
#pragma unroll
        for (int part = 0; part < keys / 16; ++part) {
            multiply(out, &weights[part * 4], v + part * 128);
        }
        commit_products();
    };
    const auto masked = [&](int step) {
        const int first_key = (steps - 1 - step) * keys;
        if (first_key + keys > (causal ? min(length, first_row + consumer * 64 + 1) : length)) {
            mask(scores, first_key, query, length);
        }
    };
    const auto release = [&](Barrier* barrier) {
        if (thread == 0) {
            arrive(barrier);
        }
    };

    if (consumer == consumers - 1) {
        // The first turn.
        arrive_at_barrier_of(1, 256);
    }
    wait(&shared.q_full, 0);
    score(0);
    wait_products<0>();
    keep(scores);
    next_turn(steps == 1);
    release(&shared.k_empty[0]);
    masked(0);
    exponentials(scores, state, scale, factor);
    narrow(weights, scores);
    for (int step = 1; step < steps; ++step) {
        // The products of this step's scores and of the last one's weights run while the exponentials are computed.
        score(step);
        apply(step - 1);
        next_turn(step + 1 == steps);
        wait_products<1>();
        keep(scores);
        release(&shared.k_empty[step % stages]);
        masked(step);
        exponentials(scores, state, scale, factor);
        wait_products<0>();
        keep(out);
        release(&shared.v_empty[(step - 1) % stages]);
        narrow(weights, scores);
#pragma unroll
        for (int index = 0; index < d / 2; ++index) {
            out[index] *= scale[index / 2 % 2];
        }
    }
    apply(steps - 1);
    wait_products<0>();
    keep(out);

#pragma unroll
    for (int half = 0; half < 2; ++half) {
        state.sum[half] += __shfl_xor_sync(0xffffffff, state.sum[half], 1);
        state.sum[half] += __shfl_xor_sync(0xffffffff, state.sum[half], 2);
        state.sum[half] = 1.0f / state.sum[half];
    }
    // This warpgroup has read its queries: their place takes its rows of the result.
    const int row = warp * 16 + lane % 16;
#pragma unroll
    for (int pair = 0; pair < d / 16; ++pair) {
        const float* const sums = &out[pair * 8];
        const float first = state.sum[0];
        const float second = state.sum[1];
        bf16* const box = shared.q[pair / 4] + consumer * 64 * 64;
        const int chunk = (pair % 4 * 2 + lane / 16) ^ row % 8;
        store_matrices(box + row * 64 + chunk * 8, pack(sums[0] * first, sums[1] * first),
                       pack(sums[2] * second, sums[3] * second), pack(sums[4] * first, sums[5] * first),
                       pack(sums[6] * second, sums[7] * second));
    }
    fence_async();
    barrier_of(4 + consumer, 128);
    if (thread == 0) {
        for (int box = 0; box < boxes; ++box) {
            store(o_map, shared.q[box] + consumer * 64 * 64, box * 64, first_row + consumer * 64, head);
        }
        commit_stores();
        wait_stores_read<0>();
    }
}
