// BatchNormWithGlobalNormalizationGrad: the gradient of a batch normalization of [N, H, W, C] with
// given means and variances.
#include <cmath>
#include <vector>

#include "kernels/interface/types.h"
#include "ops/nn/batch_norm_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

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
