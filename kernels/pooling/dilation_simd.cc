// The loop behind FindDilationLoop, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pooling/dilation_simd.cc"
#include "kernels/pooling/dilation_simd.h"

#include <limits>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/interface/tap_range.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

// The taps of one output pixel that lie in the image.
struct DilationWindow {
  const float* in = nullptr;
  const float* filter = nullptr;
  int64_t rows = 0, columns = 0;
  int64_t in_row, in_column, filter_row, filter_column;  // steps, in elements
};

// One channel at a time, where there are too few for vectors.
struct ChannelPart {
  using D = hn::CappedTag<float, 1>;
  HWY_INLINE hn::Vec<D> Load(const float* from) const { return hn::LoadU(D(), from); }
  HWY_INLINE void Store(hn::Vec<D> v, float* to) const { hn::StoreU(v, D(), to); }
};

template <class D, class Part>
HWY_INLINE void StoreLargest(D d, Part part, const DilationWindow& w, size_t c, float* out) {
  auto best = hn::Set(d, std::numeric_limits<float>::lowest());
  for (int64_t i = 0; i < w.rows; ++i) {
    const float* in = w.in + i * w.in_row + c;
    const float* filter = w.filter + i * w.filter_row + c;
    for (int64_t j = 0; j < w.columns; ++j, in += w.in_column, filter += w.filter_column) {
      const auto sum = hn::Add(part.Load(in), part.Load(filter));
      best = hn::IfThenElse(hn::Gt(sum, best), sum, best);
    }
  }
  part.Store(best, out + c);
}

void DilateRow(const DilationRow& row, const DilationColumns& columns, float* out) {
  const int64_t channels = columns.channels;
  const size_t n = static_cast<size_t>(channels);
  DilationWindow w{.in_row = row.in_step,
                   .in_column = columns.rate * channels,
                   .filter_row = columns.filter * channels,
                   .filter_column = channels};
  for (int64_t x = 0; x < columns.out; ++x, out += channels) {
    const int64_t left = x * columns.stride - columns.pad;
    const TapRange taps = TapsInside(left, columns.in, columns.filter, columns.rate);
    w.columns = taps.last - taps.first;
    w.rows = w.columns > 0 ? row.filter_rows : 0;
    if (w.rows > 0) {
      w.in = row.in + (left + taps.first * columns.rate) * channels;
      w.filter = row.filter + taps.first * channels;
    }
    if (n < 4) {
      for (size_t c = 0; c < n; ++c) StoreLargest(ChannelPart::D(), ChannelPart(), w, c, out);
    } else {
      ForParts(n, [&](auto part, size_t c) HWY_ATTR { StoreLargest(FloatTag(), part, w, c, out); });
    }
  }
}

DilationLoop LoopOfDilation() { return &DilateRow; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(LoopOfDilation);

DilationLoop FindDilationLoop() { return HWY_DYNAMIC_DISPATCH(LoopOfDilation)(); }

}  // namespace tenon
#endif
