// Bucketize, HistogramFixedWidth, LowerBound, UpperBound: positions of numbers among boundaries.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

using BucketTypes = TypeList<int32_t, int64_t, float, double>;

absl::StatusOr<std::unique_ptr<Kernel>> Bucketize(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const std::vector<float> boundaries, p.attrs().Floats("boundaries"));
  if (!std::is_sorted(boundaries.begin(), boundaries.end())) {
    return InvalidArgument("boundaries must be sorted");
  }
  const int64_t n = p.input_shape(0).num_elements();
  return DispatchType(BucketTypes{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([boundaries, n](RunContext& run) {
      const T* x = run.input<T>(0);
      int32_t* out = run.output<int32_t>(0);
      for (int64_t i = 0; i < n; ++i) {
        const auto it = std::upper_bound(boundaries.begin(), boundaries.end(), x[i]);
        out[i] = static_cast<int32_t>(it - boundaries.begin());
      }
      return absl::OkStatus();
    });
  });
}

absl::Status HistogramShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 0));
  if (!c.input(1).CompatibleWith(Shape({2}))) {
    return InvalidArgument("value_range must have 2 elements, but has shape ",
                           c.input(1).ToString());
  }
  int64_t bins = -1;
  if (c.value(2) != nullptr) {
    TENON_ASSIGN_OR_RETURN(bins, ScalarInteger(*c.value(2), "nbins"));
    if (bins <= 0) return InvalidArgument("nbins must be positive, but is ", bins);
  }
  c.set_output(0, Shape({bins}));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Histogram(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, Histogram, {2});
  p.InputNotRead(2);
  const int64_t n = p.input_shape(0).num_elements(), bins = p.output_shape(0).dim(0);
  const DType count_type = p.output_dtype(0);
  return DispatchType(BucketTypes{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const T* x = run.input<T>(0);
      const T low = run.input<T>(1)[0], high = run.input<T>(1)[1];
      if (!(low < high)) return InvalidArgument("value_range must rise: ", low, ", ", high);
      std::vector<int64_t> counts(static_cast<size_t>(bins), 0);
      const auto parts = static_cast<double>(bins);
      // The distance of both may be too large for a number.
      const double width = static_cast<double>(high) / parts - static_cast<double>(low) / parts;
      if (bins == 1) counts[0] = n;  // NaN too, as in TensorFlow
      for (int64_t i = 0; i < n && bins > 1; ++i) {
        if (x[i] != x[i]) return InvalidArgument("values must not be NaN");
        const T inside = std::min(std::max(x[i], low), high);
        const double place = (static_cast<double>(inside) - static_cast<double>(low)) / width;
        const double bin = std::min(place, parts - 1);
        ++counts[static_cast<size_t>(std::max(bin, 0.0))];
      }
      VisitTypes(TypeList<int32_t, int64_t>{}, count_type, [&]<typename I>() {
        std::transform(counts.begin(), counts.end(), run.output<I>(0),
                       [](int64_t v) { return static_cast<I>(v); });
      });
      return absl::OkStatus();
    });
  });
}

absl::Status BoundShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 2));
  if (c.input(0).has_rank() && c.input(1).has_rank()) {
    const int64_t a = c.input(0).dim(0), b = c.input(1).dim(0);
    if (a >= 0 && b >= 0 && a != b) {
      return InvalidArgument(a, " sorted rows for ", b, " rows of values");
    }
  }
  c.set_output(0, c.input(1));
  return absl::OkStatus();
}

enum class Bound { kLower, kUpper };

// std::lower_bound or std::upper_bound, with the same comparisons but no jumps that depend on them.
template <bool upper, typename T>
int64_t PlaceOf(const T* sorted, int64_t size, T value) {
  int64_t first = 0;
  while (size > 0) {
    const int64_t half = size / 2;
    const T middle = sorted[first + half];
    const bool after = upper ? !(value < middle) : middle < value;
    first = after ? first + half + 1 : first;
    size = after ? size - half - 1 : half;
  }
  return first;
}

template <Bound bound>
absl::StatusOr<std::unique_ptr<Kernel>> Search(PrepareContext& p) {
  const int64_t rows = p.input_shape(0).dim(0), size = p.input_shape(0).dim(1);
  const int64_t count = p.input_shape(1).dim(1);
  const DType index = p.output_dtype(0);
  const int threads = p.services().threads;
  return DispatchType(RealNumbers{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      VisitTypes(TypeList<int32_t, int64_t>{}, index, [&]<typename I>() {
        const T* const sorted = run.input<T>(0);
        const T* const values = run.input<T>(1);
        I* const out = run.output<I>(0);
        const double ns = 1.5 * std::log2(static_cast<double>(size) + 2);
        ParallelFor(threads, rows * count, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            out[i] = static_cast<I>(
                PlaceOf<bound == Bound::kUpper>(sorted + i / count * size, size, values[i]));
          }
        });
      });
      return absl::OkStatus();
    });
  });
}

const OpRegistration bucketize_op({
    .name = "Bucketize",
    .inputs = "input: T",
    .outputs = "output: int32",
    .attrs = "T: type; boundaries: list(float)",
    .types = "T: int32 int64 float double",
    .shape = UnchangedShape,
    .reference = Bucketize,
    .discontinuous = true,
});

const OpRegistration histogram_fixed_width_op({
    .name = "HistogramFixedWidth",
    .inputs = "values: T, value_range: T, nbins: int32",
    .outputs = "out: dtype",
    .attrs = "T: type; dtype: type = int32",
    .types = "T: int32 int64 float double; dtype: int32 int64",
    .shape = HistogramShape,
    .reference = Histogram,
});

const OpRegistration lower_bound_op({
    .name = "LowerBound",
    .inputs = "sorted_inputs: T, values: T",
    .outputs = "output: out_type",
    .attrs = "T: type; out_type: type = int32",
    .types = "out_type: int32 int64",
    .shape = BoundShape,
    .reference = Search<Bound::kLower>,
});

const OpRegistration upper_bound_op({
    .name = "UpperBound",
    .inputs = "sorted_inputs: T, values: T",
    .outputs = "output: out_type",
    .attrs = "T: type; out_type: type = int32",
    .types = "out_type: int32 int64",
    .shape = BoundShape,
    .reference = Search<Bound::kUpper>,
});

}  // namespace
}  // namespace tenon
