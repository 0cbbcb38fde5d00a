// Quotients and multiples of non-negative integers, rounded up.
#ifndef TENON_ENV_ROUND_UP_H_
#define TENON_ENV_ROUND_UP_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

inline constexpr size_t kCacheLine = 64;  // bytes

constexpr int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr size_t RoundUp(size_t n, size_t to) { return (n + to - 1) / to * to; }

}  // namespace tenon

#endif  // TENON_ENV_ROUND_UP_H_
