// Graphs: breadth-first search in one launch by a queue in global memory, and connected components by union and find.
extern "C" __global__ void bfs_block(const int* row, const int* col, int* depth, int* queue_a, int* queue_b, int n, int source) {
    __shared__ int in_count, out_count;
    for (int i = threadIdx.x; i < n; i += blockDim.x) depth[i] = i == source ? 0 : -1;
    if (threadIdx.x == 0) { queue_a[0] = source; in_count = 1; out_count = 0; }
    __syncthreads();
    int *in = queue_a, *out = queue_b, level = 0;
    while (in_count > 0) {
        for (int i = threadIdx.x; i < in_count; i += blockDim.x) {
            int u = in[i];
            for (int e = row[u]; e < row[u + 1]; ++e) {
                int v = col[e];
                if (atomicCAS(&depth[v], -1, level + 1) == -1) out[atomicAdd(&out_count, 1)] = v;
            }
        }
        __syncthreads();
        if (threadIdx.x == 0) { in_count = out_count; out_count = 0; }
        int* t = in; in = out; out = t;
        ++level;
        __syncthreads();
    }
}

__device__ int find_root(volatile int* parent, int x) {
    int p = parent[x];
    while (p != x) {
        int g = parent[p];
        x = p;
        p = g;
    }
    return x;
}

extern "C" __global__ void unite(const int2* edges, int* parent, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    int a = edges[i].x, b = edges[i].y;
    while (true) {
        a = find_root(parent, a);
        b = find_root(parent, b);
        if (a == b) break;
        int high = max(a, b), low = min(a, b);
        // Only a root is given a new parent, and only a smaller one: no cycles.
        int old = atomicCAS(&parent[high], high, low);
        if (old == high) break;
        a = old;
        b = low;
    }
}
