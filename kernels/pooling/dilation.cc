#include "kernels/pooling/dilation.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

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

// Calls f(output element, input element, filter element, sum) for the first largest sum of each
// window.
template <typename T, typename F>
void ForEachLargest(const DilationGeometry& g, const T* in, const T* filter, F&& f) {
  const auto& [rows, cols] = g.axes;
  int64_t out = 0;
  for (int64_t b = 0; b < g.batch; ++b) {
    for (int64_t y = 0; y < rows.out; ++y) {
      for (int64_t x = 0; x < cols.out; ++x) {
        for (int64_t c = 0; c < g.channels; ++c, ++out) {
          T best = Lowest<T>();
          int64_t from = -1, tap = -1;
          for (int64_t i = 0; i < rows.filter; ++i) {
            const int64_t h = rows.at(y, i);
            if (h < 0 || h >= rows.in) continue;
            for (int64_t j = 0; j < cols.filter; ++j) {
              const int64_t w = cols.at(x, j);
              if (w < 0 || w >= cols.in) continue;
              const int64_t at = ((b * rows.in + h) * cols.in + w) * g.channels + c;
              const int64_t k = (i * cols.filter + j) * g.channels + c;
              const T sum = WrapAdd(in[at], filter[k]);
              if (from < 0) {
                from = at;
                tap = k;
              }
              if (sum > best) {
                best = sum;
                from = at;
                tap = k;
              }
            }
          }
          f(out, from, tap, best);
        }
      }
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
  return DispatchType(RealNumbers{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      T* to = run.output<T>(0);
      if (result != DilationResult::kOutput) std::fill_n(to, elements, T(0));
      ForEachLargest(g, run.input<T>(0), run.input<T>(1),
                     [&](int64_t out, int64_t from, int64_t tap, T best) {
                       if (result == DilationResult::kOutput) {
                         to[out] = best;
                       } else if (from >= 0) {
                         T& grad = to[result == DilationResult::kInput ? from : tap];
                         grad = WrapAdd(grad, run.input<T>(2)[out]);
                       }
                     });
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
