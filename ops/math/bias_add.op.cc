// BiasAdd: one value per channel, channels last (NHWC) or second (NCHW). BiasAddV1: channels last.
// BiasAddGrad: the sum over everything except the channels.
#include "kernels/elementwise/reference.h"
#include "kernels/elementwise/unary_binary.h"
#include "kernels/reduction/reduce.h"
#include "kernels/reduction/reference.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr auto kAdd = [](auto a, auto b) { return WrapAdd(a, b); };

absl::StatusOr<int> ChannelAxis(const AttrReader& attrs, int rank) {
  const std::string format = attrs.String("data_format", "NHWC");
  if (format != "NHWC" && format != "NCHW") {
    return InvalidArgument("data_format must be NHWC or NCHW, but is '", format, "'");
  }
  const int least = format == "NHWC" ? 2 : 3;
  if (rank < least) {
    return InvalidArgument("value must have at least ", least, " dimensions, but has ", rank);
  }
  return format == "NHWC" ? rank - 1 : 1;
}

absl::Status BiasAddShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  if (!c.input(0).has_rank()) return absl::OkStatus();
  Shape out = c.input(0);
  TENON_ASSIGN_OR_RETURN(const int axis, ChannelAxis(c.attrs(), out.rank()));
  if (c.input(1).has_rank()) {
    const int64_t channels = c.input(1).dim(0);
    if (out.dim(axis) < 0) out.set_dim(axis, channels);
    if (channels >= 0 && out.dim(axis) != channels) {
      return InvalidArgument("bias of ", channels, " for ", out.dim(axis), " channels of ",
                             c.input(0).ToString());
    }
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> BiasAddReference(PrepareContext& p) {
  const Shape& value = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const int axis, ChannelAxis(p.attrs(), value.rank()));
  Shape bias({p.input_shape(1).dim(0)});
  for (int i = axis + 1; i < value.rank(); ++i) bias.push_back(1);
  const Broadcast space(value, {value, bias});
  p.AllowInPlace(0, 0);
  BinaryLoop loop = nullptr;
  VisitTypes(Numbers{}, p.input_dtype(0),
             [&]<typename T>() { loop = &elementwise::BinaryLoopOf<kAdd, T>; });
  if (loop == nullptr) return NoKernelFor(p.input_dtype(0));
  return MakeBinaryKernel(p, loop, space);
}

// The vector kernel supports only trailing channels.
absl::StatusOr<std::unique_ptr<Kernel>> BiasAddVector(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const int axis, ChannelAxis(p.attrs(), p.input_shape(0).rank()));
  if (axis != p.input_shape(0).rank() - 1) return Unimplemented("channels are not last");
  return VectorBinary(p, ElementwiseOp::kAdd);
}

absl::Status BiasAddGradShape(ShapeContext& c) {
  if (!c.input(0).has_rank()) {
    c.set_output(0, Shape::UnknownOfRank(1));
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const int axis, ChannelAxis(c.attrs(), c.input(0).rank()));
  c.set_output(0, Shape({c.input(0)[axis]}));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> BiasAddGradReference(PrepareContext& p) {
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const int channels, ChannelAxis(p.attrs(), in.rank()));
  std::vector<int32_t> axes;
  for (int axis = 0; axis < in.rank(); ++axis) {
    if (axis != channels) axes.push_back(axis);
  }
  TENON_ASSIGN_OR_RETURN(const ReductionSpace space,
                         ReductionSpace::Make(in, Tensor::Vector(std::move(axes))));
  return SumOver(p, space);
}

absl::StatusOr<std::unique_ptr<Kernel>> BiasAddGradVector(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const int channels, ChannelAxis(p.attrs(), p.input_shape(0).rank()));
  return VectorReduceAllBut(p, VectorReduction::kSum, channels);
}

const OpRegistration bias_add_grad({
    .name = "BiasAddGrad",
    .inputs = "out_backprop: T",
    .outputs = "output: T",
    .attrs = "T: type; data_format: string = NHWC",
    .types = "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 "
             "half uint32 uint64",
    .shape = BiasAddGradShape,
    .reference = BiasAddGradReference,
    .accelerated = BiasAddGradVector,
    .native = "_MklNativeBiasAddGrad",
    .error_bound = ErrorBound::kSum,
});

const OpRegistration bias_add({
    .name = "BiasAdd",
    .inputs = "value: T, bias: T",
    .outputs = "output: T",
    .attrs = "T: type; data_format: string = NHWC",
    .types = "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 "
             "half uint32 uint64",
    .shape = BiasAddShape,
    .reference = BiasAddReference,
    .accelerated = BiasAddVector,
    .native = "_MklNativeBiasAdd",
    .precision = PrecisionRole::kFollows,
    .batch_axis = batch_axis::FirstInput,
});

const OpRegistration bias_add_v1({
    .name = "BiasAddV1",
    .inputs = "value: T, bias: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 "
             "half uint32 uint64",
    .shape = BiasAddShape,
    .reference = BiasAddReference,
    .batch_axis = batch_axis::FirstInput,
});

}  // namespace
}  // namespace tenon
