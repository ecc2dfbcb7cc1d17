// All-pairs gravity as in the CUDA samples: float4 bodies, tiles in shared memory, softening, one step of leapfrog.
__device__ float3 bodyBodyInteraction(float4 bi, float4 bj, float3 ai, float eps2)
{
    float3 r;
    r.x = bj.x - bi.x;
    r.y = bj.y - bi.y;
    r.z = bj.z - bi.z;
    float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + eps2;
    float distSixth = distSqr * distSqr * distSqr;
    float invDistCube = 1.0f / sqrtf(distSixth);
    float s = bj.w * invDistCube;
    ai.x += r.x * s;
    ai.y += r.y * s;
    ai.z += r.z * s;
    return ai;
}

extern "C" __global__ void integrate_bodies(float4* newPos, const float4* oldPos, float4* vel, int N, float dt, float eps2)
{
    extern __shared__ float4 shPosition[];
    int gtid = blockIdx.x * blockDim.x + threadIdx.x;
    float4 myPosition = gtid < N ? oldPos[gtid] : make_float4(0, 0, 0, 0);
    float3 acc = {0.0f, 0.0f, 0.0f};
    for (int i = 0, tile = 0; i < N; i += blockDim.x, tile++) {
        int idx = tile * blockDim.x + threadIdx.x;
        shPosition[threadIdx.x] = idx < N ? oldPos[idx] : make_float4(0, 0, 0, 0);  // no mass, no force
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < blockDim.x; j++) acc = bodyBodyInteraction(myPosition, shPosition[j], acc, eps2);
        __syncthreads();
    }
    if (gtid >= N) return;
    float4 v = vel[gtid];
    v.x += acc.x * dt; v.y += acc.y * dt; v.z += acc.z * dt;
    vel[gtid] = v;
    newPos[gtid] = make_float4(myPosition.x + v.x * dt, myPosition.y + v.y * dt, myPosition.z + v.z * dt, myPosition.w);
}
