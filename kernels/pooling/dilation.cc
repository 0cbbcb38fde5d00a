#include "kernels/pooling/dilation.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

absl::StatusOr<std::array<int64_t, 2>> SpatialOf(const AttrReader& attrs, const char* name) {
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> v, attrs.Ints(name));
  constexpr int64_t kMost = INT32_MAX;
  if (v.size() != 4 || v[0] != 1 || v[3] != 1 || v[1] < 1 || v[2] < 1 || v[1] > kMost ||
      v[2] > kMost) {
    return InvalidArgument(name, " must be [1, rows, columns, 1] with positive numbers");
  }
  return std::array<int64_t, 2>{v[1], v[2]};
}

template <typename T>
T Lowest() {
  if constexpr (kIsFloat<T>) {
    return static_cast<T>(std::numeric_limits<ComputeType<T>>::lowest());
  } else {
    return std::numeric_limits<T>::lowest();
  }
}

// A part of the images and of their channels.
struct DilationPart {
  int64_t first_image, end_image, first_channel, end_channel;
};

// Calls f(output element, input element, filter element, sum) for the first largest sum of each
// window. Where none is above the dtype's lowest number, these are the first pixel from the
// window's corner on, and the first of the filter, as in TensorFlow.
template <typename T, typename F>
void ForEachLargest(const DilationGeometry& g, const DilationPart& part, const T* in,
                    const T* filter, F&& f) {
  const int64_t channels = part.end_channel - part.first_channel;
  if (channels <= 0) return;
  const auto& [rows, cols] = g.axes;
  std::vector<T> largest(static_cast<size_t>(channels));
  std::vector<int32_t> largest_taps(static_cast<size_t>(channels));
  std::vector<int64_t> sources(static_cast<size_t>(rows.filter * cols.filter));  // of the taps
  T* const __restrict best = largest.data();
  int32_t* const __restrict taps = largest_taps.data();
  const int64_t windows = rows.out * cols.out;
  for (int64_t w = part.first_image * windows; w < part.end_image * windows; ++w) {
    const int64_t image = w / windows, y = w % windows / cols.out, x = w % cols.out;
    const int64_t first_row = std::max<int64_t>(rows.at(y, 0), 0);
    const int64_t first_column = std::max<int64_t>(cols.at(x, 0), 0);
    const int64_t first = ((image * rows.in + first_row) * cols.in + first_column) * g.channels;
    std::fill_n(best, channels, Lowest<T>());
    std::fill_n(taps, channels, -1);
    for (int64_t i = 0; i < rows.filter; ++i) {
      const int64_t row = rows.at(y, i);
      if (row < 0 || row >= rows.in) continue;
      for (int64_t j = 0; j < cols.filter; ++j) {
        const int64_t column = cols.at(x, j);
        if (column < 0 || column >= cols.in) continue;
        const auto tap = static_cast<int32_t>(i * cols.filter + j);
        const int64_t from = ((image * rows.in + row) * cols.in + column) * g.channels;
        sources[static_cast<size_t>(tap)] = from;
        const T* const pixel = in + from + part.first_channel;
        const T* const weights = filter + tap * g.channels + part.first_channel;
        for (int64_t c = 0; c < channels; ++c) {
          const T sum = WrapAdd(pixel[c], weights[c]), before = best[c];
          const int32_t larger = -static_cast<int32_t>(sum > before);  // a mask: no branch
          best[c] = sum > before ? sum : before;
          taps[c] = (larger & tap) | (~larger & taps[c]);
        }
      }
    }
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t channel = part.first_channel + c, out = w * g.channels + channel;
      const int32_t tap = taps[c];
      f(out, (tap < 0 ? first : sources[static_cast<size_t>(tap)]) + channel,
        std::max(tap, 0) * g.channels + channel, best[c]);
    }
  }
}

}  // namespace

// `in` and `filter` have their ranks and these sizes: -1 where unknown, then out is -1 too.
absl::StatusOr<DilationGeometry> DilationGeometryOf(const AttrReader& attrs, const Shape& in,
                                                    const Shape& filter) {
  TENON_ASSIGN_OR_RETURN(const auto strides, SpatialOf(attrs, "strides"));
  TENON_ASSIGN_OR_RETURN(const auto rates, SpatialOf(attrs, "rates"));
  TENON_ASSIGN_OR_RETURN(const std::string padding, attrs.String("padding"));
  if (padding != "SAME" && padding != "VALID") {
    return InvalidArgument("padding must be SAME or VALID, but is '", padding, "'");
  }
  DilationGeometry g;
  g.batch = in.dim(0);
  g.channels = in.dim(3);
  if (g.channels >= 0 && filter.dim(2) >= 0 && g.channels != filter.dim(2)) {
    return InvalidArgument("an input of ", g.channels, " channels and a filter of ", filter.dim(2));
  }
  for (int d = 0; d < 2; ++d) {
    const size_t k = static_cast<size_t>(d);
    DilationAxis& a = g.axes[k];
    a = {in.dim(1 + d), filter.dim(d), -1, strides[k], rates[k], 0};
    if (a.in < 0 || a.filter < 0) continue;
    if (a.filter == 0 || a.filter > INT32_MAX || a.in > INT32_MAX) {
      return InvalidArgument("a filter of ", a.filter, " for an image of ", a.in);
    }
    if (d > 0 && g.axes[0].filter > INT32_MAX / a.filter) {
      return InvalidArgument("a filter of ", g.axes[0].filter, "x", a.filter);
    }
    const int64_t reach = (a.filter - 1) * a.rate + 1;
    if (padding == "SAME") {
      a.out = (a.in + a.stride - 1) / a.stride;
      a.pad = std::max<int64_t>(0, (a.out - 1) * a.stride + reach - a.in) / 2;
    } else {
      a.out = (a.in - reach + a.stride) / a.stride;
      if (a.out < 0)
        return InvalidArgument("a dilated filter of ", reach, " for an image of ", a.in);
    }
  }
  return g;
}

absl::StatusOr<std::unique_ptr<Kernel>> Dilation(PrepareContext& p, DilationResult result) {
  TENON_ASSIGN_OR_RETURN(const DilationGeometry g,
                         DilationGeometryOf(p.attrs(), p.input_shape(0), p.input_shape(1)));
  const int64_t elements = p.output_shape(0).num_elements();
  const auto& [rows, cols] = g.axes;
  const double sums = static_cast<double>(rows.out * cols.out * rows.filter * cols.filter);
  // All images add to a filter's gradient. Channels have nothing to do with each other.
  const int threads = p.services().threads;
  const bool by_image = result != DilationResult::kFilter && g.batch >= threads;
  const int64_t n = by_image ? g.batch : g.channels;
  constexpr int64_t kLeastChannels = 16;
  const int64_t grain =
      by_image ? ParallelGrain(sums * static_cast<double>(g.channels))
               : std::max(ParallelGrain(sums * static_cast<double>(g.batch)), kLeastChannels);
  return DispatchType(RealNumbers{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      T* to = run.output<T>(0);
      if (result != DilationResult::kOutput) std::fill_n(to, elements, T(0));
      const auto add = [&](int64_t out, int64_t from, int64_t tap, T best) {
        if (result == DilationResult::kOutput) {
          to[out] = best;
        } else {
          T& grad = to[result == DilationResult::kInput ? from : tap];
          grad = WrapAdd(grad, run.input<T>(2)[out]);
        }
      };
      ParallelFor(threads, n, grain, [&](int64_t begin, int64_t end) {
        const DilationPart part = by_image ? DilationPart{begin, end, 0, g.channels}
                                           : DilationPart{0, g.batch, begin, end};
        ForEachLargest(g, part, run.input<T>(0), run.input<T>(1), add);
      });
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
