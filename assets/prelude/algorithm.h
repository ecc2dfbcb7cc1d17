// Stand-in for <algorithm>: what kernels use of it. libcu++ has the rest: <cuda/std/algorithm>.
#pragma once

namespace std {

template <typename T>
constexpr __host__ __device__ const T& min(const T& left, const T& right) {
  return right < left ? right : left;
}

template <typename T>
constexpr __host__ __device__ const T& max(const T& left, const T& right) {
  return left < right ? right : left;
}

template <typename T>
constexpr __host__ __device__ const T& clamp(const T& value, const T& low, const T& high) {
  return value < low ? low : high < value ? high : value;
}

template <typename T>
constexpr __host__ __device__ void swap(T& left, T& right) {
  T kept = static_cast<T&&>(left);
  left = static_cast<T&&>(right);
  right = static_cast<T&&>(kept);
}

} // namespace std
