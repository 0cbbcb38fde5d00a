#include "kernels/reduction/running_log_sum.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "env/round_up.h"
#include "env/status.h"
#include "kernels/elementwise/double_simd.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/reduction/running_log_sum_simd.h"

namespace tenon {
namespace {

constexpr int64_t kLogColumns = 64;  // computed together
constexpr int64_t kFewColumns = 8;
constexpr int64_t kLongColumn = 1024;

// A tensor as [outer, steps, inner].
struct LogSumSpace {
  int64_t outer = 1, steps = 0, inner = 1;
  bool exclusive = false, reverse = false;
  int64_t columns() const { return outer * inner; }
  // The position of column c's first step, and from step to step.
  int64_t First(int64_t c) const {
    return (c / inner * steps + (reverse ? steps - 1 : 0)) * inner + c % inner;
  }
  int64_t Step() const { return reverse ? -inner : inner; }
};

// RunningLogSum for at most kLogColumns columns of doubles.
class DoubleLogSums {
 public:
  void operator()(const RunningLogSum& s, const double* x, double* y, double* sums) const {
    constexpr double kNone = -std::numeric_limits<double>::infinity();
    const auto n = static_cast<int64_t>(s.columns);
    std::array<double, kLogColumns> high, rest;
    for (size_t k = 0; k < s.steps; ++k, x += s.row, y += s.row) {
      for (size_t c = 0; c < s.columns; ++c) {
        const double a = sums[c], b = x[c];
        high[c] = a < b ? b : a;
        rest[c] = (b < a ? b : a) - high[c];
      }
      exp_(rest.data(), rest.data(), n);
      log1p_(rest.data(), rest.data(), n);
      for (size_t c = 0; c < s.columns; ++c) {
        const double before = sums[c];
        sums[c] = high[c] == kNone ? kNone : high[c] + rest[c];
        y[c] = s.exclusive ? before : sums[c];
      }
    }
  }

 private:
  const DoubleUnaryFn exp_ = FindDoubleUnary(ElementwiseOp::kExp);
  const DoubleUnaryFn log1p_ = FindDoubleUnary(ElementwiseOp::kLog1p);
};

template <typename T>
std::array<T, kLogColumns> NoSums() {
  std::array<T, kLogColumns> sums;
  sums.fill(-std::numeric_limits<T>::infinity());
  return sums;
}

// Columns side by side in memory.
template <typename T, typename Run>
void RunInPlace(const Run& run, const LogSumSpace& s, int64_t column, int64_t n, const T* x, T* y) {
  auto sums = NoSums<T>();
  const int64_t first = s.First(column);
  run({static_cast<size_t>(s.steps), static_cast<size_t>(n), s.Step(), s.exclusive}, x + first,
      y + first, sums.data());
}

// Columns that are apart, some steps of them at a time through a buffer.
// Returns the sums.
template <typename T, typename Run>
std::array<T, kLogColumns> RunByCopies(const Run& run, const LogSumSpace& s, int64_t column,
                                       int64_t n, const T* x, T* y, std::vector<T>& buffer) {
  constexpr int64_t kSteps = 128;
  buffer.resize(kSteps * kLogColumns);
  auto sums = NoSums<T>();
  for (int64_t step = 0; step < s.steps; step += kSteps) {
    const int64_t count = std::min(kSteps, s.steps - step);
    for (int64_t c = 0; c < n; ++c) {
      const T* const from = x + s.First(column + c) + step * s.Step();
      for (int64_t k = 0; k < count; ++k) {
        buffer[static_cast<size_t>(k * kLogColumns + c)] = from[k * s.Step()];
      }
    }
    run({static_cast<size_t>(count), static_cast<size_t>(n), kLogColumns, s.exclusive},
        buffer.data(), buffer.data(), sums.data());
    for (int64_t c = 0; c < n; ++c) {
      T* const to = y + s.First(column + c) + step * s.Step();
      for (int64_t k = 0; k < count; ++k) {
        to[k * s.Step()] = buffer[static_cast<size_t>(k * kLogColumns + c)];
      }
    }
  }
  return sums;
}

// A long column of neighbors: kLogColumns parts of it as columns, then each part and what is before
// it.
template <typename T, typename Run>
void RunInParts(const Run& run, const LogSumSpace& s, int64_t column, const T* x, T* y,
                std::vector<T>& buffer) {
  LogSumSpace parts = s;
  parts.outer = kLogColumns;
  parts.steps = s.steps / kLogColumns;
  const int64_t rest = s.steps % kLogColumns;
  const int64_t begin = column * s.steps, first = begin + (s.reverse ? rest : 0);
  auto totals = RunByCopies(run, parts, 0, kLogColumns, x + first, y + first, buffer);
  if (s.reverse) std::reverse(totals.begin(), totals.end());
  std::array<T, kLogColumns> before;
  T sum = NoSums<T>()[0];
  run({kLogColumns, 1, 1, /*exclusive=*/true}, totals.data(), before.data(), &sum);
  if (s.reverse) std::reverse(before.begin(), before.end());
  for (int64_t part = 0; part < kLogColumns; ++part) {
    T* const of_part = y + first + part * parts.steps;
    for (int64_t i = 0; i < parts.steps; i += kLogColumns) {
      std::array<T, kLogColumns> sums;
      sums.fill(before[static_cast<size_t>(part)]);
      const auto n = static_cast<size_t>(std::min(kLogColumns, parts.steps - i));
      run({1, n, 1, /*exclusive=*/false}, of_part + i, of_part + i, sums.data());
    }
  }
  const int64_t last = s.reverse ? begin + rest - 1 : begin + s.steps - rest;
  run({static_cast<size_t>(rest), 1, s.reverse ? -1 : 1, s.exclusive}, x + last, y + last, &sum);
}

template <typename T, typename Run>
absl::StatusOr<std::unique_ptr<Kernel>> LogSumKernel(const LogSumSpace& s, int threads, Run run) {
  return MakeKernel(
      [s, threads, run](RunContext& r) {
        if (s.columns() == 0 || s.steps == 0) return absl::OkStatus();
        const T* const x = r.input<T>(0);
        T* const y = r.output<T>(0);
        if (s.inner == 1 && s.outer <= kFewColumns && s.steps >= kLongColumn) {
          ParallelFor(threads, s.outer, 1, [&](int64_t begin, int64_t end) {
            std::vector<T> buffer;
            for (int64_t c = begin; c < end; ++c) {
              // Sums of NaN and infinities depend on the order.
              const T* const column = x + c * s.steps;
              const bool finite = std::all_of(column, column + s.steps, [](T v) {
                return v < std::numeric_limits<T>::infinity();
              });
              if (finite) {
                RunInParts(run, s, c, x, y, buffer);
              } else {
                RunInPlace(run, s, c, 1, x, y);
              }
            }
          });
          return absl::OkStatus();
        }
        // Blocks do not go on into the next outer index where columns are side by side.
        const bool side_by_side = s.inner >= kLogColumns || s.outer == 1;
        const int64_t row = side_by_side ? s.inner : s.columns();
        const int64_t per_row = CeilDiv(row, kLogColumns);
        const double ns = 0.4 * sizeof(T) * kLogColumns * static_cast<double>(s.steps);
        ParallelFor(threads, s.columns() / row * per_row, ParallelGrain(ns),
                    [&](int64_t begin, int64_t end) {
                      std::vector<T> buffer;
                      for (int64_t block = begin; block < end; ++block) {
                        const int64_t at = block % per_row * kLogColumns;
                        const int64_t column = block / per_row * row + at;
                        const int64_t n = std::min(kLogColumns, row - at);
                        if (side_by_side) {
                          RunInPlace(run, s, column, n, x, y);
                        } else {
                          RunByCopies(run, s, column, n, x, y, buffer);
                        }
                      }
                    });
        return absl::OkStatus();
      },
      "vector");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> RunningLogSumVector(PrepareContext& p) {
  const DType dtype = p.input_dtype(0);
  if (dtype != DType::kFloat && dtype != DType::kDouble) return Unimplemented("a narrow type");
  const Tensor* axis_value = p.value(1);
  if (axis_value == nullptr) return PrepareLate(p, RunningLogSumVector, {1});
  p.InputNotRead(1);
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const int64_t value, ScalarInteger(*axis_value, "axis"));
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(value, in.rank()));
  LogSumSpace s;
  s.outer = Product(in, 0, axis);
  s.steps = in.dim(axis);
  s.inner = Product(in, axis + 1, in.rank());
  s.exclusive = p.attrs().Bool("exclusive", false);
  s.reverse = p.attrs().Bool("reverse", false);
  const int threads = p.services().threads;
  if (dtype == DType::kDouble) return LogSumKernel<double>(s, threads, DoubleLogSums());
  return LogSumKernel<float>(s, threads, FindRunningLogSum());
}

}  // namespace tenon
