// AvgPool, MaxPool, MaxPoolV2 (the window as inputs) and their 3-D forms. Averages count only
// elements inside the image.
#include "kernels/pooling/pool.h"

#include "kernels/pooling/depth_pool.h"
#include "ops/nn/pool_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

template <int kSpatial>
absl::Status AnyPoolShape(ShapeContext& c) {
  return PoolShape(c, kSpatial);
}
template <int kSpatial, PoolKind kKind>
absl::StatusOr<std::unique_ptr<Kernel>> ReferencePool(PrepareContext& p) {
  return PoolReferenceKernel(p, kSpatial, kKind);
}

// Of MaxPool and MaxPoolV2, whose window may also cover channels; 1 if it is not known yet.
template <typename Context>
absl::StatusOr<int64_t> DepthWindowOf(Context& c) {
  if (!WindowIsInput(c.attrs())) return DepthWindow(c.attrs(), nullptr, nullptr);
  const Tensor* const ksize = c.value(1);
  const Tensor* const strides = c.value(2);
  if (ksize == nullptr || strides == nullptr) return 1;
  return DepthWindow(c.attrs(), ksize, strides);
}

absl::Status MaxPoolShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t window, DepthWindowOf(c));
  if (window == 1) return PoolShape(c, 2);
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  Shape out = c.input(0).has_rank() ? c.input(0) : Shape::UnknownOfRank(4);
  if (const int64_t channels = out.dim(3); channels >= 0) {
    if (channels % window != 0) {
      return InvalidArgument("a window over ", window, " of ", channels, " channels");
    }
    out.set_dim(3, channels / window);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> ReferenceMaxPool(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const int64_t window, DepthWindowOf(p));
  if (window > 1) return DepthPoolKernel(p, window);
  return ReferencePool<2, PoolKind::kMax>(p);
}
template <int kSpatial, PoolKind kKind>
absl::StatusOr<std::unique_ptr<Kernel>> AcceleratedPool(PrepareContext& p) {
  absl::StatusOr<std::unique_ptr<Kernel>> vector = PoolVectorKernel(p, kSpatial, kKind);
  if (vector.ok() || !absl::IsUnimplemented(vector.status())) return vector;
  return PoolOnednnKernel(p, kSpatial, kKind);
}

absl::StatusOr<std::unique_ptr<Kernel>> AcceleratedMaxPool(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const int64_t window, DepthWindowOf(p));
  if (window > 1) return Unimplemented("a window over channels");
  return AcceleratedPool<2, PoolKind::kMax>(p);
}

constexpr char kMaxTypes[] = "T: half bfloat16 float double int32 int64 uint8 int16 int8 uint16";

const OpRegistration avg_pool({
    .name = "AvgPool",
    .inputs = "value: T",
    .outputs = "output: T",
    .attrs = "ksize: list(int); strides: list(int); padding: string; "
             "data_format: string = NHWC; T: type",
    .types = "T: half bfloat16 float double",
    .shape = AnyPoolShape<2>,
    .reference = ReferencePool<2, PoolKind::kAverage>,
    .accelerated = AcceleratedPool<2, PoolKind::kAverage>,
    .native = "_MklNativeAvgPool",
    .native_types = "float bfloat16",
    .sign = Sign::kOfInputs,
    .precision = PrecisionRole::kFollows,
    .batch_axis = batch_axis::FirstInput,
    .on_integers = OnIntegers::kPools,
    .error_bound = ErrorBound::kAveragePool,
});

const OpRegistration max_pool({
    .name = "MaxPool",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type = float; ksize: list(int); strides: list(int); padding: string; "
             "explicit_paddings: list(int) = []; data_format: string = NHWC",
    .types = kMaxTypes,
    .shape = MaxPoolShape,
    .reference = ReferenceMaxPool,
    .accelerated = AcceleratedMaxPool,
    .native = "_MklNativeMaxPool",
    .native_types = "float bfloat16",
    .sign = Sign::kOfInputs,
    .precision = PrecisionRole::kFollows,
    .batch_axis = batch_axis::FirstInput,
    .on_integers = OnIntegers::kPools,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration max_pool_v2({
    .name = "MaxPoolV2",
    .inputs = "input: T, ksize: int32, strides: int32",
    .outputs = "output: T",
    .attrs = "T: type = float; padding: string; data_format: string = NHWC",
    .types = kMaxTypes,
    .shape = MaxPoolShape,
    .reference = ReferenceMaxPool,
    .accelerated = AcceleratedMaxPool,
    .native = "_MklNativeMaxPoolV2",
    .native_types = "float bfloat16",
    .batch_axis = batch_axis::FirstInput,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration avg_pool_3d({
    .name = "AvgPool3D",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "ksize: list(int); strides: list(int); padding: string; "
             "data_format: string = NDHWC; T: type",
    .types = "T: half bfloat16 float double",
    .shape = AnyPoolShape<3>,
    .reference = ReferencePool<3, PoolKind::kAverage>,
    .accelerated = AcceleratedPool<3, PoolKind::kAverage>,
    .native = "_MklNativeAvgPool3D",
    .native_types = "float bfloat16",
    .precision = PrecisionRole::kFollows,
    .batch_axis = batch_axis::FirstInput,
    .error_bound = ErrorBound::kAveragePool,
});

const OpRegistration max_pool_3d({
    .name = "MaxPool3D",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "ksize: list(int); strides: list(int); padding: string; "
             "data_format: string = NDHWC; T: type",
    .types = "T: half bfloat16 float",
    .shape = AnyPoolShape<3>,
    .reference = ReferencePool<3, PoolKind::kMax>,
    .accelerated = AcceleratedPool<3, PoolKind::kMax>,
    .native = "_MklNativeMaxPool3D",
    .native_types = "float bfloat16",
    .precision = PrecisionRole::kFollows,
    .batch_axis = batch_axis::FirstInput,
    .error_bound = ErrorBound::kExact,
});

}  // namespace
}  // namespace tenon
