/*@ lightbench(
    title: "Reference: one thread per point, in f64",
    steps: [
        launch(kernel: "rotary_reference",
               args: ["x", "x.magnitude", "cosines", "sines", "position", "tokens", "heads", "half"],
               grid: ["ceil_div(tokens * heads * half, 128)"], block: [128]),
    ],
) @*/

// A point belongs to one thread, which has read both coordinates before it writes either: so it may work in place.
__global__ void rotary_reference(double* x, double* magnitude, const float* cosines, const float* sines,
                                 const int* position, long long tokens, int heads, int half) {
    const long long point = blockIdx.x * 128LL + threadIdx.x;
    if (point >= tokens * heads * half) {
        return;
    }
    const long long head = point / half;
    const int index = static_cast<int>(point % half);
    const long long token = head / heads;
    const double cosine = cosines[static_cast<long long>(position[token]) * half + index];
    const double sine = sines[static_cast<long long>(position[token]) * half + index];
    const long long first = head * (2 * half) + index;
    const double left = x[first];
    const double right = x[first + half];
    x[first] = left * cosine - right * sine;
    x[first + half] = right * cosine + left * sine;
    magnitude[first] = fabs(left * cosine) + fabs(right * sine);
    magnitude[first + half] = fabs(right * cosine) + fabs(left * sine);
}
