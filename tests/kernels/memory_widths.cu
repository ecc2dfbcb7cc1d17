// Loads and stores of every width and cache operator, volatile, read-only, and local arrays by index.
extern "C" __global__ void memory_widths(const unsigned char* b, const short* h, const int2* w, const double2* d, const int4* q, long long* out, int4* qo, volatile int* v, int n) {
    int t = threadIdx.x;
    long long sum = b[t] + (signed char)b[t + 1] + h[t] + (unsigned short)h[t + 1] + w[t].x + w[t].y + (long long)(d[t].x + d[t].y);
    int4 k = __ldg(&q[t]), l = __ldcs(&q[t]), m = __ldcg(&q[t]), o = __ldcv(&q[t]), p = __ldlu(&q[t]);
    sum += k.x + l.y + m.z + o.w + p.x + v[t];
    __stcs(&qo[t], k); __stcg(&qo[t + n], l); __stwt(&qo[t + 2 * n], m); __stwb(&qo[t + 3 * n], p);
    v[t] = (int)sum;
    int local[16];
    for (int i = 0; i < 16; i++) local[i] = (int)(sum & 0xffff) * i;
    int index = (int)(sum & 15);
    sum += local[index] + local[15 - index];
    out[t] = sum;
}
