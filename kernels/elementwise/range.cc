#include "kernels/elementwise/range.h"

#include <cmath>
#include <limits>

#include "env/status.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

constexpr int64_t kLongest = int64_t{1} << 40;
constexpr double kRangeElementNs = 0.3;

template <typename T>
absl::StatusOr<int64_t> RangeLength(T start, T limit, T delta) {
  if (delta == T(0)) return InvalidArgument("the step of a range must not be 0");
  if (delta > T(0) ? limit < start : start < limit) {
    return InvalidArgument("a range that steps away from its limit");
  }
  double length;
  if constexpr (kIsInt<T>) {
    // The distance between two int64 may need 65 bits.
    const auto distance = limit > start
                              ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                              : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
    uint64_t step = static_cast<uint64_t>(delta);
    if (delta < T(0)) step = uint64_t{0} - step;
    const uint64_t n = distance / step + (distance % step != 0 ? 1 : 0);
    if (n > static_cast<uint64_t>(kLongest)) return InvalidArgument("a range that is too long");
    return static_cast<int64_t>(n);
  } else {
    // Each operation rounds.
    const T way = static_cast<T>(ToCompute(limit) - ToCompute(start));
    const T steps = static_cast<T>(ToCompute(way) / ToCompute(delta));
    length = std::ceil(std::abs(ToCompute(steps)));
    if (!(length <= static_cast<double>(kLongest))) {
      return InvalidArgument("a range that is too long");
    }
    return static_cast<int64_t>(length);
  }
}

}  // namespace

absl::StatusOr<int64_t> RangeLength(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  return DispatchType(RealNumbers{}, start.dtype(), [&]<typename T>() {
    return RangeLength<T>(*start.data<T>(), *limit.data<T>(), *delta.data<T>());
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> RangeKernel(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, RangeKernel, {0, 1, 2});
  const int64_t n = p.output_shape(0).dim(0);
  const int threads = p.services().threads;
  return DispatchType(RealNumbers{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([n, threads](RunContext& run) {
      const T start = *run.input<T>(0);
      const T delta = *run.input<T>(2);
      T* out = run.output<T>(0);
      ParallelFor(threads, n, ParallelGrain(kRangeElementNs), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          if constexpr (kIsInt<T>) {
            out[i] = WrapAdd(start, WrapMul(static_cast<T>(i), delta));
          } else {  // a sum of steps would add up their rounding errors
            const T way = static_cast<T>(ToCompute(static_cast<T>(i)) * ToCompute(delta));
            out[i] = static_cast<T>(ToCompute(start) + ToCompute(way));
          }
        }
      });
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> LinSpaceKernel(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, LinSpaceKernel, {2});
  p.InputNotRead(2);
  const int64_t n = p.output_shape(0).dim(0);
  const int threads = p.services().threads;
  return DispatchType(Floats{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([n, threads](RunContext& run) {
      using C = ComputeType<T>;
      const C start = ToCompute(*run.input<T>(0));
      const C stop = ToCompute(*run.input<T>(1));
      T* out = run.output<T>(0);
      const C step = n > 1 ? (stop - start) / static_cast<C>(n - 1) : C(0);
      ParallelFor(threads, n, ParallelGrain(kRangeElementNs), [&](int64_t begin, int64_t end) {
        const auto fill = [&]<typename I>(I from, I to) {
          for (I i = from; i < to; ++i) out[i] = static_cast<T>(start + step * static_cast<C>(i));
        };
        // Vectors convert integers of 32 bits only.
        if (end <= std::numeric_limits<int32_t>::max()) {
          fill(static_cast<int32_t>(begin), static_cast<int32_t>(end));
        } else {
          fill(begin, end);
        }
      });
      if (n > 1) {  // even if the step is infinite
        out[0] = static_cast<T>(start);
        out[n - 1] = static_cast<T>(stop);
      }
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
