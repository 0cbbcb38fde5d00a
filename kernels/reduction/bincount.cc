#include "kernels/reduction/bincount.h"

#include <algorithm>
#include <atomic>

#include "kernels/interface/axis.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/reduction/segments.h"

namespace tenon {
namespace {

// What is counted: each value, each value's weight, or whether a value occurs.
enum class Counted { kOnes, kWeights, kPresence };

// Adds `n` values to `bins` bins; those beyond are left out. False if one is negative.
template <Counted counted, typename T, typename I>
bool CountRow(const I* values, const T* weights, int64_t n, T* out, int64_t bins) {
  I signs = 0;
  for (int64_t i = 0; i < n; ++i) {
    const I v = values[i];
    signs |= v;
    if (static_cast<uint64_t>(int64_t{v}) >= static_cast<uint64_t>(bins)) continue;
    if constexpr (counted == Counted::kPresence) {
      out[v] = T(1);
    } else if constexpr (counted == Counted::kWeights) {
      out[v] = WrapAdd(out[v], weights[i]);
    } else {
      out[v] = WrapAdd(out[v], T(1));
    }
  }
  return signs >= 0;
}

// Rows of `size` values, one after the other.
template <Counted counted, typename T, typename I>
absl::Status CountRows(const I* values, const T* weights, int64_t rows, int64_t size, T* out,
                       int64_t bins, int threads) {
  std::atomic<bool> negative = false;
  const double ns = 1.5 * static_cast<double>(size) + 0.1 * static_cast<double>(bins);
  ParallelFor(threads, rows, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      std::fill_n(out + r * bins, bins, T(0));
      const T* const own = counted == Counted::kWeights ? weights + r * size : nullptr;
      if (!CountRow<counted>(values + r * size, own, size, out + r * bins, bins)) {
        negative.store(true, std::memory_order_relaxed);
      }
    }
  });
  if (!negative.load()) return absl::OkStatus();
  const I* const first = std::find_if(values, values + rows * size, [](I v) { return v < 0; });
  return InvalidArgument("values must not be negative, but one is ", *first);
}

}  // namespace

// Inputs: [row information], values, [dense_shape], size, weights.
absl::StatusOr<std::unique_ptr<Kernel>> Bincount(PrepareContext& p, BinRows how) {
  const bool before = how == BinRows::kSplits || how == BinRows::kCoordinates;
  const int values_input = before ? 1 : 0;
  const int size_input = how == BinRows::kCoordinates ? 3 : values_input + 1;
  const Shape& out_shape = p.output_shape(0);
  p.InputNotRead(size_input);
  const Shape& in = p.input_shape(values_input);
  const int64_t n = in.num_elements();
  const int64_t bins = out_shape.dim(out_shape.rank() - 1);
  const int64_t rows = out_shape.rank() == 2 ? out_shape.dim(0) : 1;
  const bool weighted = p.input_shape(size_input + 1).num_elements() > 0;
  const bool binary = p.attrs().Bool("binary_output", false);
  const DType value_type = p.input_dtype(values_input);
  const int threads = p.services().threads;
  const int64_t given = before ? p.input_shape(0).num_elements() : 0;
  const int64_t coordinates = how == BinRows::kCoordinates ? p.input_shape(0).dim(1) : 1;
  if (how == BinRows::kCoordinates && p.input_shape(0).dim(0) != n) {
    return InvalidArgument("indices of shape ", p.input_shape(0).ToString(), " for ", n, " values");
  }
  if (how == BinRows::kCoordinates && coordinates != out_shape.rank()) {
    return InvalidArgument("indices of ", coordinates, " columns for a dense_shape of ",
                           out_shape.rank());
  }
  return DispatchType(
      TypeList<int32_t, int64_t, float, double>{}, p.output_dtype(0), [&]<typename T>() {
        return MakeKernel([=](RunContext& run) -> absl::Status {
          const T* weights = weighted ? run.input<T>(size_input + 1) : nullptr;
          T* out = run.output<T>(0);
          if (!before) {
            absl::Status status;
            VisitTypes(TypeList<int32_t, int64_t>{}, value_type, [&]<typename I>() {
              const auto count = binary     ? CountRows<Counted::kPresence, T, I>
                                 : weighted ? CountRows<Counted::kWeights, T, I>
                                            : CountRows<Counted::kOnes, T, I>;
              status = count(run.input<I>(values_input), weights, rows,
                             n / std::max<int64_t>(rows, 1), out, bins, threads);
            });
            return status;
          }
          const std::vector<int64_t> values = IntegersAt(value_type, run.input(values_input), n);
          const int64_t* const row_input = run.input<int64_t>(0);
          std::fill_n(out, rows * bins, T(0));
          if (how == BinRows::kSplits) {
            if (row_input[0] != 0 || row_input[given - 1] != n ||
                !std::is_sorted(row_input, row_input + given)) {
              return InvalidArgument("splits must rise from 0 to the ", n, " values");
            }
          }
          if (how == BinRows::kCoordinates) {
            const auto* const sizes = run.input<int64_t>(2);
            for (int64_t i = 0; i < n * coordinates; ++i) {
              if (row_input[i] < 0 || row_input[i] >= sizes[i % coordinates]) {
                return InvalidArgument("index ", i / coordinates, " has ", row_input[i], " of ",
                                       sizes[i % coordinates]);
              }
            }
          }
          int64_t row = 0;
          for (int64_t i = 0; i < n; ++i) {
            const int64_t v = values[static_cast<size_t>(i)];
            if (v < 0 && how == BinRows::kCoordinates && coordinates == 2) continue;
            if (v < 0) return InvalidArgument("values must not be negative, but one is ", v);
            if (how == BinRows::kSplits) {
              while (row_input[row + 1] <= i) ++row;
            }
            if (how == BinRows::kCoordinates && coordinates == 2) row = row_input[2 * i];
            if (row < 0 || row >= rows) return InvalidArgument("row ", row, " of ", rows);
            if (v >= bins) continue;
            T& bin = out[row * bins + v];
            bin = binary ? T(1) : WrapAdd(bin, weighted ? weights[i] : T(1));
          }
          return absl::OkStatus();
        });
      });
}

}  // namespace tenon
