// Code of our own that runs beside kernels: it makes inputs, sees whether memory changed, and compares outputs.
// What it computes is what `core/verify/src` computes on the host, bit for bit: it is compiled without contraction, and
// nothing depends on the order in which threads run.
#include "numbers.cuh"
#include "random.cuh"
#include "make.cuh"
#include "compare.cuh"
#include "check.cuh"
