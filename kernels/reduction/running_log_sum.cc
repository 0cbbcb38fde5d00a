#include "kernels/reduction/running_log_sum.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "env/status.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/round_up.h"
#include "kernels/reduction/running_log_sum_simd.h"

namespace tenon {
namespace {

constexpr int64_t kLogColumns = 64;  // computed together
using LogSums = std::array<float, kLogColumns>;

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

// Columns side by side in memory.
void RunInPlace(RunningLogSumFn run, const LogSumSpace& s, int64_t column, int64_t n,
                const float* x, float* y) {
  LogSums sums;
  sums.fill(-std::numeric_limits<float>::infinity());
  const int64_t first = s.First(column);
  run({static_cast<size_t>(s.steps), static_cast<size_t>(n), s.Step(), s.exclusive}, x + first,
      y + first, sums.data());
}

// Columns that are apart, some steps of them at a time through a buffer.
void RunByCopies(RunningLogSumFn run, const LogSumSpace& s, int64_t column, int64_t n,
                 const float* x, float* y, std::vector<float>& buffer) {
  constexpr int64_t kSteps = 128;
  buffer.resize(kSteps * kLogColumns);
  LogSums sums;
  sums.fill(-std::numeric_limits<float>::infinity());
  for (int64_t step = 0; step < s.steps; step += kSteps) {
    const int64_t count = std::min(kSteps, s.steps - step);
    for (int64_t c = 0; c < n; ++c) {
      const float* const from = x + s.First(column + c) + step * s.Step();
      for (int64_t k = 0; k < count; ++k) {
        buffer[static_cast<size_t>(k * kLogColumns + c)] = from[k * s.Step()];
      }
    }
    run({static_cast<size_t>(count), static_cast<size_t>(n), kLogColumns, s.exclusive},
        buffer.data(), buffer.data(), sums.data());
    for (int64_t c = 0; c < n; ++c) {
      float* const to = y + s.First(column + c) + step * s.Step();
      for (int64_t k = 0; k < count; ++k) {
        to[k * s.Step()] = buffer[static_cast<size_t>(k * kLogColumns + c)];
      }
    }
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> RunningLogSumVector(PrepareContext& p) {
  if (p.input_dtype(0) != DType::kFloat) return Unimplemented("not floats");
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
  return MakeKernel(
      [s, threads, run = FindRunningLogSum()](RunContext& r) {
        if (s.columns() == 0 || s.steps == 0) return absl::OkStatus();
        const float* const x = r.input<float>(0);
        float* const y = r.output<float>(0);
        // Blocks do not go on into the next outer index where columns are side by side.
        const bool side_by_side = s.inner >= kLogColumns || s.outer == 1;
        const int64_t row = side_by_side ? s.inner : s.columns();
        const int64_t per_row = CeilDiv(row, kLogColumns);
        const double ns = 1.5 * kLogColumns * static_cast<double>(s.steps);
        ParallelFor(threads, s.columns() / row * per_row, ParallelGrain(ns),
                    [&](int64_t begin, int64_t end) {
                      std::vector<float> buffer;
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

}  // namespace tenon
