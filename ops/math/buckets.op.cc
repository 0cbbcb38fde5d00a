// Bucketize, HistogramFixedWidth, LowerBound, UpperBound: positions of numbers among boundaries.
#include <algorithm>
#include <cmath>
#include <functional>
#include <type_traits>

#include "env/round_up.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/in_parts.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

using BucketTypes = TypeList<int32_t, int64_t, float, double>;

// ---- search ----

double SearchNs(int64_t size) { return std::log2(static_cast<double>(size) + 2); }

// Whether the place of `value` is after `middle`, in std::lower_bound or std::upper_bound.
template <bool upper, typename N, typename T>
bool IsAfter(N middle, T value) {
  return upper ? !(value < middle) : middle < value;
}

// Where they find the value, by the same comparisons, but no jumps that depend on them.
template <bool upper, typename N, typename T>
int64_t PlaceOf(const N* sorted, int64_t size, T value) {
  int64_t first = 0;
  while (size > 0) {
    const int64_t half = size / 2;
    const bool after = IsAfter<upper>(sorted[first + half], value);
    first = after ? first + half + 1 : first;
    size = after ? size - half - 1 : half;
  }
  return first;
}

// Where numbers are not sorted, the comparisons count.
template <typename N>
bool IsSorted(const N* numbers, int64_t size) {
  int sorted = 1;
  for (int64_t i = 1; i < size; ++i) sorted &= numbers[i - 1] <= numbers[i];
  return sorted != 0 && (size == 0 || numbers[0] == numbers[0]);
}

// The places of several values. Searches in sorted numbers run side by side.
template <bool upper, typename N, typename T, typename I>
void FindPlaces(const N* numbers, int64_t size, const T* values, int64_t count, I* places) {
  constexpr int64_t kSearches = 8;
  int64_t done = 0;
  // Only if there are enough values to pay for it.
  if (size > 0 && count >= std::max(kSearches, size / 16) && IsSorted(numbers, size)) {
    for (; done + kSearches <= count; done += kSearches) {
      const N* first[kSearches];
      T value[kSearches];
      std::fill_n(first, kSearches, numbers);
      std::copy_n(values + done, kSearches, value);
      for (int64_t left = size; left > 1; left -= left / 2) {
        const int64_t half = left / 2;
        for (int64_t l = 0; l < kSearches; ++l) {
          first[l] += IsAfter<upper>(first[l][half - 1], value[l]) ? half : 0;
        }
      }
      for (int64_t l = 0; l < kSearches; ++l) {
        const int64_t place = first[l] - numbers + IsAfter<upper>(*first[l], value[l]);
        places[done + l] = static_cast<I>(place);
      }
    }
  }
  for (; done < count; ++done) {
    places[done] = static_cast<I>(PlaceOf<upper>(numbers, size, values[done]));
  }
}

// The same for few numbers, by comparing with each of them.
constexpr size_t kFewBoundaries = 16;
template <typename T>
void CountBoundaries(const std::vector<float>& boundaries, const T* x, int64_t n, int32_t* out) {
  constexpr int64_t kBlock = 1024;  // stays in the first-level cache
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, n);
    std::fill(out + begin, out + end, 0);
    for (const float boundary : boundaries) {
      for (int64_t i = begin; i < end; ++i) out[i] += !(x[i] < boundary);
    }
  }
}

// ---- ops ----

absl::StatusOr<std::unique_ptr<Kernel>> Bucketize(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const std::vector<float> boundaries, p.attrs().Floats("boundaries"));
  if (!std::is_sorted(boundaries.begin(), boundaries.end())) {
    return InvalidArgument("boundaries must be sorted");
  }
  const int64_t n = p.input_shape(0).num_elements();
  const int threads = p.services().threads;
  const double ns = SearchNs(static_cast<int64_t>(boundaries.size()));
  return DispatchType(BucketTypes{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      const T* const x = run.input<T>(0);
      int32_t* const out = run.output<int32_t>(0);
      ParallelFor(threads, n, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
        if (boundaries.size() <= kFewBoundaries) {
          CountBoundaries(boundaries, x + begin, end - begin, out + begin);
        } else {
          const auto size = static_cast<int64_t>(boundaries.size());
          FindPlaces<true>(boundaries.data(), size, x + begin, end - begin, out + begin);
        }
      });
      return absl::OkStatus();
    });
  });
}

// Values whose bins are found before they are counted.
constexpr int64_t kBinned = 256;
constexpr double kBinNs = 1.5;

template <typename T>
struct Bins {
  T low, high;
  int64_t count;
};

// Adds n <= kBinned values to the counts of their bins.
template <typename T>
absl::Status CountInBins(const Bins<T>& bins, const T* x, int64_t n, int64_t* counts) {
  const auto parts = static_cast<double>(bins.count), low = static_cast<double>(bins.low);
  // The distance of both may be too large for a number.
  const double width = static_cast<double>(bins.high) / parts - low / parts, last = parts - 1;
  const T least = bins.low, most = bins.high;
  int32_t bin[kBinned];
  int numbers = 1;
  // Of values only, without std::min and std::max, whose references keep GCC from vector code.
  for (int64_t i = 0; i < n; ++i) {
    numbers &= x[i] == x[i];
    T inside = x[i];
    inside = inside < least ? least : inside;
    inside = most < inside ? most : inside;
    double place = (static_cast<double>(inside) - low) / width;
    place = last < place ? last : place;
    bin[i] = static_cast<int32_t>(0 < place ? place : 0);  // 0 for NaN
  }
  if (numbers == 0) return InvalidArgument("values must not be NaN");
  for (int64_t i = 0; i < n; ++i) ++counts[bin[i]];
  return absl::OkStatus();
}

// The counts of n values.
template <typename T>
absl::StatusOr<std::vector<int64_t>> Histogram(const Bins<T>& bins, const T* x, int64_t n,
                                               int threads) {
  using Counts = std::vector<int64_t>;
  const auto size = static_cast<size_t>(bins.count);
  if (bins.count == 1) return Counts{n};  // NaN too, as in TensorFlow
  const auto count = [&](Counts& counts, int64_t block) {
    counts.resize(size);
    const int64_t begin = block * kBinned;
    return CountInBins(bins, x + begin, std::min(kBinned, n - begin), counts.data());
  };
  // Each part has all bins.
  TENON_ASSIGN_OR_RETURN(
      std::vector<Counts> parts,
      InParts<Counts>(bins.count > n ? 1 : threads, CeilDiv(n, kBinned), kBinNs * kBinned, count));
  Counts sums = std::move(parts[0]);
  sums.resize(size);
  for (size_t r = 1; r < parts.size(); ++r) {
    std::transform(sums.begin(), sums.end(), parts[r].begin(), sums.begin(), std::plus<int64_t>());
  }
  return sums;
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

absl::StatusOr<std::unique_ptr<Kernel>> HistogramKernel(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, HistogramKernel, {2});
  p.InputNotRead(2);
  const int64_t n = p.input_shape(0).num_elements(), bins = p.output_shape(0).dim(0);
  const DType count_type = p.output_dtype(0);
  const int threads = p.services().threads;
  return DispatchType(BucketTypes{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const T* x = run.input<T>(0);
      const T low = run.input<T>(1)[0], high = run.input<T>(1)[1];
      if (!(low < high)) return InvalidArgument("value_range must rise: ", low, ", ", high);
      TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> counts,
                             Histogram(Bins<T>{low, high, bins}, x, n, threads));
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
        const int64_t grain = ParallelGrain(SearchNs(size));
        ParallelFor(threads, rows * count, grain, [&](int64_t begin, int64_t end) {
          while (begin < end) {
            const int64_t row = begin / count, in_row = std::min(end, (row + 1) * count) - begin;
            FindPlaces<bound == Bound::kUpper>(sorted + row * size, size, values + begin, in_row,
                                               out + begin);
            begin += in_row;
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
    .reference = HistogramKernel,
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
