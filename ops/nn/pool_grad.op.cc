// AvgPoolGrad, AvgPool3DGrad, MaxPoolGrad, MaxPoolGradV2 (the window as inputs), MaxPool3DGrad.
#include "kernels/pooling/pool_grad.h"

#include "kernels/interface/late_kernel.h"
#include "kernels/layout/channels_last.h"
#include "ops/nn/pool_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

template <int kSpatial>
absl::Status AverageShape(ShapeContext& c) {
  return AvgPoolGradShape(c, kSpatial);
}
template <int kSpatial>
absl::Status MaxShape(ShapeContext& c) {
  return MaxPoolGradShape(c, kSpatial);
}
template <int kSpatial, PoolGradKind kKind>
absl::StatusOr<std::unique_ptr<Kernel>> ReferencePoolGrad(PrepareContext& p) {
  for (int i : PoolGradParameters(p, kKind)) {
    if (p.value(i) != nullptr) continue;
    return PrepareLate(p, ReferencePoolGrad<kSpatial, kKind>, PoolGradParameters(p, kKind));
  }
  return PoolGradReference(p, kSpatial, kKind);
}
template <int kSpatial, PoolGradKind kKind>
absl::StatusOr<std::unique_ptr<Kernel>> VectorPoolGrad(PrepareContext& p) {
  const std::string format = p.attrs().String("data_format", "NHWC");
  if (format == "NCHW" || format == "NCDHW") {
    return PrepareChannelsLast(p, kSpatial, VectorPoolGrad<kSpatial, kKind>);
  }
  return PoolGradVector(p, kSpatial, kKind);
}

constexpr char kPoolGradTypes[] =
    "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64";

const OpRegistration avg_pool_grad({
    .name = "AvgPoolGrad",
    .inputs = "orig_input_shape: int32, grad: T",
    .outputs = "output: T",
    .attrs = "T: type; ksize: list(int); strides: list(int); padding: string; "
             "data_format: string = NHWC",
    .types = "T: half bfloat16 float double",
    .shape = AverageShape<2>,
    .reference = ReferencePoolGrad<2, PoolGradKind::kAverage>,
    .accelerated = VectorPoolGrad<2, PoolGradKind::kAverage>,
    .native = "_MklNativeAvgPoolGrad",
    .native_types = "float bfloat16",
    .error_bound = ErrorBound::kPoolGradient,
});

const OpRegistration avg_pool_3d_grad({
    .name = "AvgPool3DGrad",
    .inputs = "orig_input_shape: int32, grad: T",
    .outputs = "output: T",
    .attrs = "T: type; ksize: list(int); strides: list(int); padding: string; "
             "data_format: string = NDHWC",
    .types = "T: half bfloat16 float double",
    .shape = AverageShape<3>,
    .reference = ReferencePoolGrad<3, PoolGradKind::kAverage>,
    .accelerated = VectorPoolGrad<3, PoolGradKind::kAverage>,
    .native = "_MklNativeAvgPool3DGrad",
    .native_types = "float bfloat16",
    .error_bound = ErrorBound::kPoolGradient,
});

const OpRegistration max_pool_grad({
    .name = "MaxPoolGrad",
    .inputs = "orig_input: T, orig_output: T, grad: T",
    .outputs = "output: T",
    .attrs = "T: type = float; ksize: list(int); strides: list(int); padding: string; "
             "explicit_paddings: list(int) = []; data_format: string = NHWC",
    .types = kPoolGradTypes,
    .shape = MaxShape<2>,
    .reference = ReferencePoolGrad<2, PoolGradKind::kMax>,
    .accelerated = VectorPoolGrad<2, PoolGradKind::kMax>,
    .native = "_MklNativeMaxPoolGrad",
    .native_types = "float bfloat16",
    .error_bound = ErrorBound::kPoolGradient,
});

const OpRegistration max_pool_grad_v2({
    .name = "MaxPoolGradV2",
    .inputs = "orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32",
    .outputs = "output: T",
    .attrs = "T: type = float; padding: string; data_format: string = NHWC",
    .types = kPoolGradTypes,
    .shape = MaxShape<2>,
    .reference = ReferencePoolGrad<2, PoolGradKind::kMax>,
    .accelerated = VectorPoolGrad<2, PoolGradKind::kMax>,
    .native = "_MklNativeMaxPoolGradV2",
    .native_types = "float bfloat16",
    .error_bound = ErrorBound::kPoolGradient,
});

const OpRegistration max_pool_3d_grad({
    .name = "MaxPool3DGrad",
    .inputs = "orig_input: TInput, orig_output: TInput, grad: T",
    .outputs = "output: T",
    .attrs = "T: type = float; TInput: type = float; ksize: list(int); strides: list(int); "
             "padding: string; data_format: string = NDHWC",
    .types = "T: half bfloat16 float; TInput: half bfloat16 float",
    .shape = MaxShape<3>,
    .reference = ReferencePoolGrad<3, PoolGradKind::kMaxTies>,
    .accelerated = VectorPoolGrad<3, PoolGradKind::kMaxTies>,
    .native = "_MklNativeMaxPool3DGrad",
    .native_types = "float bfloat16",
    .error_bound = ErrorBound::kPoolGradient,
});

}  // namespace
}  // namespace tenon
