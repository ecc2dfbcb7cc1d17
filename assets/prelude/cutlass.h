// Joins CuTe, which was written for the libcu++ of CUDA 12, with the libcu++ of the compiler. Included before kernels
// that name the library `cutlass`.
#pragma once

// libcu++ 3.5 has a `get` for `integer_sequence`, which is ambiguous with CuTe's: it gets another name. The headers that
// the renamed one includes come first, so that the macro changes nothing else.
#include <cuda/std/__cstddef/types.h>
#include <cuda/std/__type_traits/integral_constant.h>
#include <cuda/std/__type_traits/is_integral.h>
#if __has_include(<cuda/std/__tuple_dir/tuple_element.h>)
#include <cuda/std/__tuple_dir/tuple_element.h>
#include <cuda/std/__tuple_dir/tuple_size.h>
#endif
#define get lightbench_get_of_integer_sequence
#include <cuda/std/__utility/integer_sequence.h>
#undef get

#include <cuda/std/array>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
#include <cute/config.hpp>

namespace std {
using namespace cuda::std;
}

// CuTe declares `std::tuple_size` with a parameter pack, libcu++ 3 with one parameter: CuTe's declarations are left out,
// and what structured bindings need follows.
#if defined(CCCL_MAJOR_VERSION) && CCCL_MAJOR_VERSION >= 3 && defined(CUTE_STL_NAMESPACE_IS_CUDA_STD)
#undef CUTE_STL_NAMESPACE_IS_CUDA_STD
#include <cute/container/array.hpp>
#include <cute/container/array_subbyte.hpp>
#include <cute/container/tuple.hpp>
#include <cute/container/type_list.hpp>

#define LIGHTBENCH_TUPLE(parameters, type)                                                      \
  template <LIGHTBENCH_LIST parameters>                                                         \
  struct tuple_size<LIGHTBENCH_LIST type> : ::cuda::std::tuple_size<LIGHTBENCH_LIST type> {};   \
  template <size_t I, LIGHTBENCH_LIST parameters>                                               \
  struct tuple_element<I, LIGHTBENCH_LIST type> : ::cuda::std::tuple_element<I, LIGHTBENCH_LIST type> {};
#define LIGHTBENCH_LIST(...) __VA_ARGS__
namespace std {
LIGHTBENCH_TUPLE((class T, size_t N), (cute::array<T, N>))
LIGHTBENCH_TUPLE((class T, size_t N), (cute::array_subbyte<T, N>))
LIGHTBENCH_TUPLE((class... T), (cute::tuple<T...>))
LIGHTBENCH_TUPLE((class... T), (cute::type_list<T...>))
}
#undef LIGHTBENCH_LIST
#undef LIGHTBENCH_TUPLE
#endif
