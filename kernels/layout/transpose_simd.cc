// The loops of transpose_simd.h, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/layout/transpose_simd.cc"
#include "kernels/layout/transpose_simd.h"

#include <array>

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

template <typename T, size_t channels>
void SplitChannels(const T* x, size_t plane, size_t n, T* y) {
  const hn::ScalableTag<T> d;
  size_t i = 0;
  for (const size_t lanes = hn::Lanes(d); i + lanes <= n; i += lanes) {
    auto a = hn::Zero(d), b = a, c = a, e = a;
    if constexpr (channels == 2) hn::LoadInterleaved2(d, x + 2 * i, a, b);
    if constexpr (channels == 3) hn::LoadInterleaved3(d, x + 3 * i, a, b, c);
    if constexpr (channels == 4) hn::LoadInterleaved4(d, x + 4 * i, a, b, c, e);
    hn::StoreU(a, d, y + i);
    hn::StoreU(b, d, y + plane + i);
    if constexpr (channels > 2) hn::StoreU(c, d, y + 2 * plane + i);
    if constexpr (channels > 3) hn::StoreU(e, d, y + 3 * plane + i);
  }
  for (; i < n; ++i) {
    for (size_t c = 0; c < channels; ++c) y[c * plane + i] = x[i * channels + c];
  }
}

template <typename T, size_t channels>
void JoinChannels(const T* x, size_t plane, size_t n, T* y) {
  const hn::ScalableTag<T> d;
  size_t i = 0;
  for (const size_t lanes = hn::Lanes(d); i + lanes <= n; i += lanes) {
    const auto a = hn::LoadU(d, x + i), b = hn::LoadU(d, x + plane + i);
    const auto c = channels > 2 ? hn::LoadU(d, x + 2 * plane + i) : a;
    const auto e = channels > 3 ? hn::LoadU(d, x + 3 * plane + i) : a;
    if constexpr (channels == 2) hn::StoreInterleaved2(a, b, d, y + 2 * i);
    if constexpr (channels == 3) hn::StoreInterleaved3(a, b, c, d, y + 3 * i);
    if constexpr (channels == 4) hn::StoreInterleaved4(a, b, c, e, d, y + 4 * i);
  }
  for (; i < n; ++i) {
    for (size_t c = 0; c < channels; ++c) y[i * channels + c] = x[c * plane + i];
  }
}

template <typename T, bool split>
void MoveChannels(const void* from, size_t channels, size_t plane, size_t n, void* to) {
  constexpr auto kLoops =
      split ? std::array{&SplitChannels<T, 2>, &SplitChannels<T, 3>, &SplitChannels<T, 4>}
            : std::array{&JoinChannels<T, 2>, &JoinChannels<T, 3>, &JoinChannels<T, 4>};
  kLoops[channels - 2](static_cast<const T*>(from), plane, n, static_cast<T*>(to));
}

template <typename T>
ChannelLoops LoopsOf() {
  return {&MoveChannels<T, true>, &MoveChannels<T, false>};
}
ChannelLoops GetChannelLoops(size_t bytes) {
  return bytes == 1   ? LoopsOf<uint8_t>()
         : bytes == 2 ? LoopsOf<uint16_t>()
         : bytes == 4 ? LoopsOf<uint32_t>()
                      : ChannelLoops();
}

TransposeFn GetTranspose() { return &TransposePlane; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(GetTranspose);
HWY_EXPORT(GetChannelLoops);

TransposeFn FindTranspose() { return HWY_DYNAMIC_DISPATCH(GetTranspose)(); }
ChannelLoops FindChannelLoops(size_t bytes) { return HWY_DYNAMIC_DISPATCH(GetChannelLoops)(bytes); }

}  // namespace tenon
#endif
