// BatchNormWithGlobalNormalization, a batch normalization of [N, H, W, C] with given means and
// variances, and its gradient. Import writes the former as FusedBatchNormV3 where it is of floats.
#include <cmath>
#include <vector>

#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "ops/nn/batch_norm_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status GlobalBatchNormShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  Shape x = c.input(0);
  int64_t channels = x.has_rank() ? x.dim(3) : -1;
  for (int i : {1, 2, 3, 4}) TENON_RETURN_IF_ERROR(ExpectPerChannel(c, i, channels));
  if (x.has_rank()) x.set_dim(3, channels);
  c.set_output(0, std::move(x));
  return absl::OkStatus();
}

absl::Status GlobalBatchNormGradShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  TENON_RETURN_IF_ERROR(c.ExpectRank(4, 4));
  if (!c.input(0).CompatibleWith(c.input(4))) {
    return InvalidArgument("backprop has shape ", c.input(4).ToString(), ", but t ",
                           c.input(0).ToString());
  }
  TENON_ASSIGN_OR_RETURN(Shape x, MergeShapes(c.input(0), c.input(4)));
  int64_t channels = x.has_rank() ? x.dim(3) : -1;
  for (int i : {1, 2, 3}) TENON_RETURN_IF_ERROR(ExpectPerChannel(c, i, channels));
  c.set_output(0, std::move(x));
  for (int i : {1, 2, 3, 4}) c.set_output(i, Shape({channels}));
  return absl::OkStatus();
}

// y = (x - m) gamma / sqrt(v + epsilon) + beta; gamma counts as 1 unless scale_after_normalization.
// Each operation's result is rounded to T.
absl::StatusOr<std::unique_ptr<Kernel>> GlobalBatchNorm(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const float epsilon, p.attrs().Float("variance_epsilon"));
  TENON_ASSIGN_OR_RETURN(const bool scales, p.attrs().Bool("scale_after_normalization"));
  const int64_t channels = p.input_shape(0).dim(3), n = p.input_shape(0).num_elements();
  const int threads = p.services().threads;
  p.AllowInPlace(0, 0);
  return DispatchType(TypeList<half, float, double>{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      using C = ComputeType<T>;
      const auto rounded = [](C v) { return ToCompute(static_cast<T>(v)); };
      std::vector<C> factor(static_cast<size_t>(channels));
      for (size_t c = 0; c < factor.size(); ++c) {
        const C sum = rounded(ToCompute(run.input<T>(2)[c]) + rounded(C(epsilon)));
        factor[c] = rounded(C(1) / std::sqrt(sum));
        if (scales) factor[c] = rounded(factor[c] * ToCompute(run.input<T>(4)[c]));
      }
      const T *x = run.input<T>(0), *mean = run.input<T>(1), *beta = run.input<T>(3);
      T* y = run.output<T>(0);
      constexpr double kNsPerElement = 2;
      ParallelFor(threads, n, ParallelGrain(kNsPerElement), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const auto c = static_cast<size_t>(i % channels);
          const C centered = rounded(ToCompute(x[i]) - ToCompute(mean[c]));
          y[i] = static_cast<T>(rounded(centered * factor[c]) + ToCompute(beta[c]));
        }
      });
      return absl::OkStatus();
    });
  });
}

// The gradient of the same y.
absl::StatusOr<std::unique_ptr<Kernel>> GlobalBatchNormGrad(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const float epsilon, p.attrs().Float("variance_epsilon"));
  TENON_ASSIGN_OR_RETURN(const bool scales, p.attrs().Bool("scale_after_normalization"));
  const Shape& in = p.input_shape(0);
  const int64_t channels = in.dim(3), n = in.num_elements();
  return DispatchType(TypeList<half, float, double>{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      const auto size = static_cast<size_t>(channels);
      std::vector<double> gradient(size, 0), centered(size, 0), factor(size);
      const T *x = run.input<T>(0), *dy = run.input<T>(4);
      auto mean = [&](size_t c) { return static_cast<double>(run.input<T>(1)[c]); };
      auto gamma = [&](size_t c) { return scales ? static_cast<double>(run.input<T>(3)[c]) : 1.0; };
      // Rounded as the other numbers are.
      const auto small = static_cast<double>(static_cast<T>(epsilon));
      auto root = [&](size_t c) {
        return std::sqrt(static_cast<double>(run.input<T>(2)[c]) + small);
      };
      for (size_t c = 0; c < size; ++c) factor[c] = gamma(c) / root(c);
      for (int64_t i = 0; i < n; ++i) {
        const size_t c = static_cast<size_t>(i % channels);
        const auto g = static_cast<double>(dy[i]);
        gradient[c] += g;
        centered[c] += g * (static_cast<double>(x[i]) - mean(c));
        run.output<T>(0)[i] = static_cast<T>(g * factor[c]);
      }
      for (size_t c = 0; c < size; ++c) {
        const double r = root(c);
        run.output<T>(1)[c] = static_cast<T>(-gradient[c] * factor[c]);
        run.output<T>(2)[c] = static_cast<T>(-0.5 * centered[c] * factor[c] / (r * r));
        run.output<T>(3)[c] = static_cast<T>(gradient[c]);
        run.output<T>(4)[c] = static_cast<T>(scales ? centered[c] / r : 0.0);
      }
      return absl::OkStatus();
    });
  });
}

const OpRegistration global_batch_norm({
    .name = "BatchNormWithGlobalNormalization",
    .inputs = "t: T, m: T, v: T, beta: T, gamma: T",
    .outputs = "result: T",
    .attrs = "T: type; variance_epsilon: float; scale_after_normalization: bool",
    .types = "T: half float double",
    .shape = GlobalBatchNormShape,
    .reference = GlobalBatchNorm,
    .error_bound = ErrorBound::kBatchNorm,
});

const OpRegistration global_batch_norm_grad({
    .name = "BatchNormWithGlobalNormalizationGrad",
    .inputs = "t: T, m: T, v: T, gamma: T, backprop: T",
    .outputs = "dx: T, dm: T, dv: T, db: T, dg: T",
    .attrs = "T: type; variance_epsilon: float; scale_after_normalization: bool",
    .types = "T: half float double",
    .shape = GlobalBatchNormGradShape,
    .reference = GlobalBatchNormGrad,
    .error_bound = ErrorBound::kBatchNorm,
});

}  // namespace
}  // namespace tenon
