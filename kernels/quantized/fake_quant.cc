#include "kernels/quantized/fake_quant.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "env/round_up.h"
#include "env/status.h"
#include "kernels/elementwise/quantize_simd.h"
#include "kernels/interface/parallel.h"
#include "kernels/quantized/nudged_range.h"
#include "kernels/quantized/quantized_simd.h"
#include "kernels/quantized/range_inputs.h"

namespace tenon {
namespace {

bool IsEmpty(FloatRange r) { return r.min == 0.0f && r.max == 0.0f; }

// …FakeQuantVars divides; the others multiply by the inverse.
enum class Scaling { kMultiply, kDivide };

void FakeQuant(const Nudged& g, Scaling scaling, const float* x, float* y, int64_t n, int64_t step,
               RoundToStepsFn vector = nullptr) {
  if (vector != nullptr && step == 1) {
    vector({g.min, g.max, g.scale, g.inverse, g.zero, scaling == Scaling::kDivide}, x, y,
           static_cast<size_t>(n));
    return;
  }
  for (int64_t i = 0; i < n * step; i += step) {
    const float shifted = Clamp(x[i], g.min, g.max) - g.min;
    const float steps = scaling == Scaling::kDivide ? shifted / g.scale : shifted * g.inverse;
    y[i] = std::floor(steps - g.zero + 0.5f) * g.scale;
  }
}

absl::Status CheckArgs(FloatRange r) {
  if (r.min < r.max) return absl::OkStatus();
  return InvalidArgument("min must be below max, they are ", r.min, " and ", r.max);
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeArgs(PrepareContext& p, RoundToStepsFn vector,
                                                 const char* implementation) {
  TENON_ASSIGN_OR_RETURN(const Steps steps, ReadSteps(p.attrs()));
  const FloatRange range{p.attrs().Float("min", -6), p.attrs().Float("max", 6)};
  TENON_RETURN_IF_ERROR(CheckArgs(range));
  const Nudged grid(range, steps);
  const int64_t n = p.output_shape(0).num_elements();
  const int threads = p.services().threads;
  p.AllowInPlace(0, 0);
  return MakeKernel(
      [=](RunContext& r) {
        ParallelFor(threads, n, ParallelGrain(vector ? 0.3 : 3), [&](int64_t begin, int64_t end) {
          FakeQuant(grid, Scaling::kMultiply, r.input<float>(0) + begin, r.output<float>(0) + begin,
                    end - begin, 1, vector);
        });
        return absl::OkStatus();
      },
      implementation);
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeVars(PrepareContext& p, RoundToStepsFn vector,
                                                 const char* implementation) {
  TENON_ASSIGN_OR_RETURN(const Steps steps, ReadSteps(p.attrs()));
  const int64_t n = p.output_shape(0).num_elements();
  const int threads = p.services().threads;
  return MakeKernel(
      [=](RunContext& r) {
        const FloatRange range = ScalarRange(r, 1);
        float* y = r.output<float>(0);
        if (IsEmpty(range)) {
          std::fill_n(y, n, 0.0f);
          return absl::OkStatus();
        }
        const Nudged grid(range, steps);
        ParallelFor(threads, n, ParallelGrain(vector ? 0.5 : 3), [&](int64_t begin, int64_t end) {
          FakeQuant(grid, Scaling::kDivide, r.input<float>(0) + begin, y + begin, end - begin, 1,
                    vector);
        });
        return absl::OkStatus();
      },
      implementation);
}

// dx where x is in the range; gradients below or above it are summed.
FloatRange Gradient(const Nudged& g, const float* dy, const float* x, float* dx, int64_t n,
                    int64_t step) {
  FloatRange sums;
  for (int64_t i = 0; i < n * step; i += step) {
    const bool below = x[i]<g.min, above = x[i]> g.max;
    dx[i] = dy[i] * (x[i] >= g.min && x[i] <= g.max ? 1.0f : 0.0f);
    sums.min += dy[i] * (below ? 1.0f : 0.0f);
    sums.max += dy[i] * (above ? 1.0f : 0.0f);
  }
  return sums;
}

// The same of n neighbors in vector code, in parts that do not depend on the number of threads.
FloatRange GradientOfAll(const Nudged& g, const float* dy, const float* x, float* dx, int64_t n,
                         int threads) {
  constexpr int64_t kPart = 8192;
  const RangeGradientFn gradient = FindRangeGradient();
  std::vector<RangeSlopes> parts(static_cast<size_t>(CeilDiv(n, kPart)));
  ParallelFor(threads, std::ssize(parts), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = i * kPart;
      parts[static_cast<size_t>(i)] = gradient(g.min, g.max, dy + at, x + at, dx + at,
                                               static_cast<size_t>(std::min(kPart, n - at)));
    }
  });
  FloatRange sums;
  for (const RangeSlopes& part : parts) {
    sums.min += part.below;
    sums.max += part.above;
  }
  return sums;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> FakeQuantArgs(PrepareContext& p) {
  return MakeArgs(p, nullptr, "reference");
}

absl::StatusOr<std::unique_ptr<Kernel>> FakeQuantArgsVector(PrepareContext& p) {
  return MakeArgs(p, FindRoundToSteps(), "vector");
}

absl::StatusOr<std::unique_ptr<Kernel>> FakeQuantVars(PrepareContext& p) {
  return MakeVars(p, nullptr, "reference");
}

absl::StatusOr<std::unique_ptr<Kernel>> FakeQuantVarsVector(PrepareContext& p) {
  return MakeVars(p, FindRoundToSteps(), "vector");
}

absl::StatusOr<std::unique_ptr<Kernel>> FakeQuantPerChannel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Steps steps, ReadSteps(p.attrs()));
  const Slices s = SlicesOf(p.input_shape(0), p.input_shape(0).rank() - 1);
  return MakeKernel([=](RunContext& r) {
    for (int64_t k = 0; k < s.count; ++k) {
      const FloatRange range{r.input<float>(1)[k], r.input<float>(2)[k]};
      float* y = r.output<float>(0) + k;
      if (IsEmpty(range)) {
        for (int64_t o = 0; o < s.outer; ++o) y[o * s.count] = 0;
        continue;
      }
      FakeQuant(Nudged(range, steps), Scaling::kMultiply, r.input<float>(0) + k, y, s.outer,
                s.count);
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> FakeQuantPerChannelVector(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Steps steps, ReadSteps(p.attrs()));
  const Slices s = SlicesOf(p.input_shape(0), p.input_shape(0).rank() - 1);
  const RoundColumnsFn vector = FindRoundColumns();
  const int threads = p.services().threads;
  p.RequestScratch(static_cast<size_t>(5 * s.count) * sizeof(float));
  auto run = [=](RunContext& r) {
    float* const table = static_cast<float*>(r.scratch());
    std::array<float*, 5> columns;
    for (size_t i = 0; i < 5; ++i) columns[i] = table + static_cast<int64_t>(i) * s.count;
    std::vector<int64_t> empty;
    for (int64_t k = 0; k < s.count; ++k) {
      const FloatRange range{r.input<float>(1)[k], r.input<float>(2)[k]};
      if (IsEmpty(range)) empty.push_back(k);
      const Nudged g(range, steps);
      columns[0][k] = g.min, columns[1][k] = g.max, columns[2][k] = g.scale;
      columns[3][k] = g.inverse, columns[4][k] = g.zero;
    }
    const StepsColumns map{columns[0], columns[1], columns[2], columns[3], columns[4]};
    const double ns = 0.4 * static_cast<double>(s.count) + 5;
    ParallelFor(threads, s.outer, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        float* const y = r.output<float>(0) + o * s.count;
        vector(map, r.input<float>(0) + o * s.count, y, static_cast<size_t>(s.count));
        for (int64_t k : empty) y[k] = 0;
      }
    });
    return absl::OkStatus();
  };
  return MakeKernel(std::move(run), "vector");
}

absl::StatusOr<std::unique_ptr<Kernel>> FakeQuantArgsGradient(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Steps steps, ReadSteps(p.attrs()));
  const FloatRange range{p.attrs().Float("min", -6), p.attrs().Float("max", 6)};
  TENON_RETURN_IF_ERROR(CheckArgs(range));
  const Nudged grid(range, steps);
  const int64_t n = p.output_shape(0).num_elements();
  return MakeKernel([grid, n, threads = p.services().threads](RunContext& r) {
    GradientOfAll(grid, r.input<float>(0), r.input<float>(1), r.output<float>(0), n, threads);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> FakeQuantVarsGradient(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Steps steps, ReadSteps(p.attrs()));
  Slices s;
  if (p.input_shape(2).rank() == 0) {
    s.outer = p.input_shape(1).num_elements();
  } else {
    s = SlicesOf(p.input_shape(1), p.input_shape(1).rank() - 1);
  }
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& r) {
    for (int64_t k = 0; k < s.count; ++k) {
      const FloatRange range{r.input<float>(2)[k], r.input<float>(3)[k]};
      const float* dy = r.input<float>(0) + k;
      float* dx = r.output<float>(0) + k;
      FloatRange sums;
      if (IsEmpty(range)) {
        for (int64_t o = 0; o < s.outer; ++o) dx[o * s.count] = dy[o * s.count];
      } else {
        const Nudged grid(range, steps);
        const float* const x = r.input<float>(1) + k;
        sums = s.count == 1 ? GradientOfAll(grid, dy, x, dx, s.outer, threads)
                            : Gradient(grid, dy, x, dx, s.outer, s.count);
      }
      r.output<float>(1)[k] = sums.min;
      r.output<float>(2)[k] = sums.max;
    }
    return absl::OkStatus();
  });
}

}  // namespace tenon
