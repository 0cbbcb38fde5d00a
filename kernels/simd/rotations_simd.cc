// The loops behind FindRotateColumns, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/rotations_simd.cc"
#include "kernels/simd/rotations_simd.h"

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Some vectors of rows: a column that was rotated stays in registers for the next rotation.
template <size_t vectors, typename T>
void RotateRows(const T* turns, size_t count, T* columns, size_t stride) {
  const hn::CappedTag<T, kColumnBytes / sizeof(T)> d;
  using V = hn::Vec<decltype(d)>;
  const size_t lanes = hn::Lanes(d);
  V x[vectors];
  for (size_t i = 0; i < vectors; ++i) x[i] = hn::LoadU(d, columns + i * lanes);
  for (size_t k = 0; k < count; ++k, columns += stride) {
    const V c = hn::Set(d, turns[2 * k]), s = hn::Set(d, turns[2 * k + 1]);
    for (size_t i = 0; i < vectors; ++i) {
      const V y = hn::LoadU(d, columns + stride + i * lanes);
      hn::StoreU(hn::MulAdd(s, y, hn::Mul(c, x[i])), d, columns + i * lanes);
      x[i] = hn::NegMulAdd(s, x[i], hn::Mul(c, y));
    }
  }
  for (size_t i = 0; i < vectors; ++i) hn::StoreU(x[i], d, columns + i * lanes);
}

template <typename T>
void RotateAllRows(const T* turns, size_t count, T* columns, size_t stride, size_t rows) {
  constexpr size_t kVectors = 4;
  const size_t lanes = hn::Lanes(hn::CappedTag<T, kColumnBytes / sizeof(T)>());
  size_t row = 0;
  for (; row + (kVectors - 1) * lanes < rows; row += kVectors * lanes) {
    RotateRows<kVectors>(turns, count, columns + row, stride);
  }
  for (; row < rows; row += lanes) RotateRows<1>(turns, count, columns + row, stride);
}

RotateColumnsFn<float> RotateFloatColumns() { return &RotateAllRows<float>; }
RotateColumnsFn<double> RotateDoubleColumns() { return &RotateAllRows<double>; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(RotateFloatColumns);
HWY_EXPORT(RotateDoubleColumns);

template <>
RotateColumnsFn<float> FindRotateColumns() {
  return HWY_DYNAMIC_DISPATCH(RotateFloatColumns)();
}
template <>
RotateColumnsFn<double> FindRotateColumns() {
  return HWY_DYNAMIC_DISPATCH(RotateDoubleColumns)();
}

}  // namespace tenon
#endif
