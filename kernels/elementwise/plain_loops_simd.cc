// The loops of plain_loops_simd.h, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/plain_loops_simd.cc"
#include "kernels/elementwise/plain_loops_simd.h"

#include <algorithm>
#include <type_traits>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/interface/float_to_int.h"
#include "kernels/interface/types.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

template <PairMap op, typename T>
HWY_INLINE auto MapPair(T a, T b) {
  if constexpr (op == PairMap::kLess) return a < b;
  if constexpr (op == PairMap::kLessEqual) return a <= b;
  if constexpr (op == PairMap::kGreater) return a > b;
  if constexpr (op == PairMap::kGreaterEqual) return a >= b;
  if constexpr (op == PairMap::kLeftShift || op == PairMap::kRightShift) {
    constexpr T kMost = sizeof(T) * 8 - 1;
    T count = b > kMost ? kMost : b;
    if constexpr (std::is_signed_v<T>) count = count < 0 ? 0 : count;
    if constexpr (op == PairMap::kRightShift) return static_cast<T>(a >> count);
    // Of a type without a sign: bits may leave.
    using Wide = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    return static_cast<T>(static_cast<Wide>(a) << count);
  }
}

// One loop serves all steps: what there is one of is repeated in a block first.
template <PairMap op, typename T>
void MapPairs(const void* a, size_t a_step, const void* b, size_t b_step, void* out, size_t n) {
  using Result = decltype(MapPair<op>(T(), T()));
  constexpr size_t kBlock = 256;
  const T *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
  Result* to = static_cast<Result*>(out);
  T repeated_x[kBlock], repeated_y[kBlock];
  if (n == 0) return;
  if (a_step == 0) std::fill_n(repeated_x, std::min(n, kBlock), *x);
  if (b_step == 0) std::fill_n(repeated_y, std::min(n, kBlock), *y);
  for (size_t begin = 0; begin < n; begin += kBlock) {
    const size_t size = std::min(kBlock, n - begin);
    const T* const from_x = a_step == 0 ? repeated_x : x + begin;
    const T* const from_y = b_step == 0 ? repeated_y : y + begin;
    // The result may be in the place of an operand.
    alignas(64) Result results[kBlock];
    for (size_t i = 0; i < size; ++i) results[i] = MapPair<op>(from_x[i], from_y[i]);
    std::copy_n(results, size, to + begin);
  }
}

template <typename T>
PairMapFn PairMapOf(PairMap op) {
  if constexpr (std::is_integral_v<T>) {
    if (op == PairMap::kLeftShift) return &MapPairs<PairMap::kLeftShift, T>;
    if (op == PairMap::kRightShift) return &MapPairs<PairMap::kRightShift, T>;
  }
  if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, double>) {
    if (op == PairMap::kLess) return &MapPairs<PairMap::kLess, T>;
    if (op == PairMap::kLessEqual) return &MapPairs<PairMap::kLessEqual, T>;
    if (op == PairMap::kGreater) return &MapPairs<PairMap::kGreater, T>;
    if (op == PairMap::kGreaterEqual) return &MapPairs<PairMap::kGreaterEqual, T>;
  }
  return nullptr;
}

PairMapFn PairMapFor(PairMap op, DType type) {
  PairMapFn map = nullptr;
  VisitTypes(Joined<Ints, TypeList<double>>{}, type, [&]<typename T>() { map = PairMapOf<T>(op); });
  return map;
}

template <typename Bits>
void FloatToBits(const float* x, Bits* y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = static_cast<Bits>(FloatToInt<int32_t>(x[i]));
}
FloatToBitsFn<uint8_t> FloatToBytes() { return &FloatToBits<uint8_t>; }
FloatToBitsFn<uint16_t> FloatToWords() { return &FloatToBits<uint16_t>; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(PairMapFor);
HWY_EXPORT(FloatToBytes);
HWY_EXPORT(FloatToWords);

PairMapFn FindPairMap(PairMap op, DType type) { return HWY_DYNAMIC_DISPATCH(PairMapFor)(op, type); }
template <>
FloatToBitsFn<uint8_t> FindFloatToBits() {
  return HWY_DYNAMIC_DISPATCH(FloatToBytes)();
}
template <>
FloatToBitsFn<uint16_t> FindFloatToBits() {
  return HWY_DYNAMIC_DISPATCH(FloatToWords)();
}

}  // namespace tenon
#endif
