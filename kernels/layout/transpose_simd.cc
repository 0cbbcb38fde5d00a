// The loop behind FindTranspose, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/layout/transpose_simd.cc"
#include "kernels/layout/transpose_simd.h"

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Transposes four rows of four: pairs of 32 bits, then pairs of 64.
HWY_INLINE void TransposeFour(const uint32_t* from, int64_t from_stride, uint32_t* to,
                              int64_t to_stride) {
  const hn::FixedTag<uint32_t, 4> d;
  const hn::FixedTag<uint64_t, 2> d64;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + from_stride);
  const auto r2 = hn::LoadU(d, from + 2 * from_stride), r3 = hn::LoadU(d, from + 3 * from_stride);
  const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, r0, r1));
  const auto low23 = hn::BitCast(d64, hn::InterleaveLower(d, r2, r3));
  const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, r0, r1));
  const auto high23 = hn::BitCast(d64, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d64, low01, low23)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d64, low01, low23)), d, to + to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d64, high01, high23)), d, to + 2 * to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d64, high01, high23)), d, to + 3 * to_stride);
}

void TransposePlane(const uint32_t* from, int64_t from_stride, uint32_t* to, int64_t to_stride,
                    int64_t rows, int64_t columns) {
  const int64_t whole_rows = rows / 4 * 4, whole_columns = columns / 4 * 4;
  for (int64_t c = 0; c < whole_columns; c += 4) {
    for (int64_t r = 0; r < whole_rows; r += 4) {
      TransposeFour(from + r * from_stride + c, from_stride, to + c * to_stride + r, to_stride);
    }
  }
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = c < whole_columns ? whole_rows : 0; r < rows; ++r) {
      to[c * to_stride + r] = from[r * from_stride + c];
    }
  }
}

TransposeFn GetTranspose() { return &TransposePlane; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(GetTranspose);

TransposeFn FindTranspose() { return HWY_DYNAMIC_DISPATCH(GetTranspose)(); }

}  // namespace tenon
#endif
