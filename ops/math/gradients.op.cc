// Gradients of activations and roots: the incoming gradient times the derivative, which is computed
// from the op's input ("features") or its output ("outputs", "y").
#include "env/status.h"
#include "kernels/elementwise/formulas.h"
#include "kernels/elementwise/reference.h"
#include "kernels/elementwise/unary_binary.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status GradientShape(ShapeContext& c) {
  const auto merged = MergeShapes(c.input(0), c.input(1));
  if (!merged.ok()) {
    return InvalidArgument("both inputs must have one shape, but they have ", c.input(0).ToString(),
                           " and ", c.input(1).ToString());
  }
  c.set_output(0, *merged);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> LeakyReluGradReference(PrepareContext& p) {
  const float alpha = p.attrs().Float("alpha", 0.2f);
  const int64_t n = p.input_shape(0).num_elements();
  p.AllowInPlace(0, 0);
  p.AllowInPlace(1, 0);
  return DispatchType(Floats{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([alpha, n](RunContext& run) {
      const T* gradients = run.input<T>(0);
      const T* features = run.input<T>(1);
      T* y = run.output<T>(0);
      // alpha is rounded to the dtype, as in TensorFlow.
      const ComputeType<T> slope = ToCompute(static_cast<T>(alpha));
      constexpr Formula<ElementwiseOp::kLeakyReluGrad> kFormula{};
      for (int64_t i = 0; i < n; ++i) {
        y[i] = static_cast<T>(kFormula(ToCompute(gradients[i]), ToCompute(features[i]), slope));
      }
      return absl::OkStatus();
    });
  });
}

const OpRegistration relu_grad({
    .name = "ReluGrad",
    .inputs = "gradients: T, features: T",
    .outputs = "backprops: T",
    .attrs = "T: type",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64",
    .shape = GradientShape,
    .reference = Binary<Formula<ElementwiseOp::kReluGrad>{}, RealNumbers>,
    .accelerated = VectorBinary<ElementwiseOp::kReluGrad>,
    .native = "_MklNativeReluGrad",
    .native_types = "float bfloat16 double",
    .elementwise = true,
});

const OpRegistration relu6_grad({
    .name = "Relu6Grad",
    .inputs = "gradients: T, features: T",
    .outputs = "backprops: T",
    .attrs = "T: type",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64",
    .shape = GradientShape,
    .reference = Binary<Formula<ElementwiseOp::kRelu6Grad>{}, RealNumbers>,
    .accelerated = VectorBinary<ElementwiseOp::kRelu6Grad>,
    .native = "_MklNativeRelu6Grad",
    .native_types = "float bfloat16 double",
    .elementwise = true,
});

const OpRegistration elu_grad({
    .name = "EluGrad",
    .inputs = "gradients: T, outputs: T",
    .outputs = "backprops: T",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double",
    .shape = GradientShape,
    .reference = Binary<Formula<ElementwiseOp::kEluGrad>{}, Floats>,
    .accelerated = VectorBinary<ElementwiseOp::kEluGrad>,
    .native = "_MklNativeEluGrad",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kExponentialSlope,
});

const OpRegistration selu_grad({
    .name = "SeluGrad",
    .inputs = "gradients: T, outputs: T",
    .outputs = "backprops: T",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double",
    .shape = GradientShape,
    .reference = Binary<Formula<ElementwiseOp::kSeluGrad>{}, Floats>,
    .accelerated = VectorBinary<ElementwiseOp::kSeluGrad>,
    .native = "_MklNativeSeluGrad",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kExponentialSlope,
});

const OpRegistration leaky_relu_grad({
    .name = "LeakyReluGrad",
    .inputs = "gradients: T, features: T",
    .outputs = "backprops: T",
    .attrs = "alpha: float = 0.2; T: type = float",
    .types = "T: half bfloat16 float double",
    .shape = GradientShape,
    .reference = LeakyReluGradReference,
    .accelerated = VectorBinary<ElementwiseOp::kLeakyReluGrad>,
    .native = "_MklNativeLeakyReluGrad",
    .native_types = "float bfloat16",
    .elementwise = true,
});

const OpRegistration softplus_grad({
    .name = "SoftplusGrad",
    .inputs = "gradients: T, features: T",
    .outputs = "backprops: T",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double",
    .shape = GradientShape,
    .reference = Binary<Formula<ElementwiseOp::kSoftplusGrad>{}, Floats>,
    .accelerated = VectorBinary<ElementwiseOp::kSoftplusGrad>,
    .native = "_MklNativeSoftplusGrad",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kExponential,
});

const OpRegistration softsign_grad({
    .name = "SoftsignGrad",
    .inputs = "gradients: T, features: T",
    .outputs = "backprops: T",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double",
    .shape = GradientShape,
    .reference = Binary<Formula<ElementwiseOp::kSoftsignGrad>{}, Floats>,
    .accelerated = VectorBinary<ElementwiseOp::kSoftsignGrad>,
    .native = "_MklNativeSoftsignGrad",
    .native_types = "float bfloat16 double",
    .elementwise = true,
});

const OpRegistration tanh_grad({
    .name = "TanhGrad",
    .inputs = "y: T, dy: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = GradientShape,
    .reference = Binary<Formula<ElementwiseOp::kTanhGrad>{}, FloatsAndComplexes>,
    .accelerated = VectorBinary<ElementwiseOp::kTanhGrad>,
    .native = "_MklNativeTanhGrad",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kSlopeOfGradient,
});

const OpRegistration sigmoid_grad({
    .name = "SigmoidGrad",
    .inputs = "y: T, dy: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = GradientShape,
    .reference = Binary<Formula<ElementwiseOp::kSigmoidGrad>{}, FloatsAndComplexes>,
    .accelerated = VectorBinary<ElementwiseOp::kSigmoidGrad>,
    .native = "_MklNativeSigmoidGrad",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kSlopeOfGradient,
});

const OpRegistration sqrt_grad({
    .name = "SqrtGrad",
    .inputs = "y: T, dy: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = GradientShape,
    .reference = Binary<Formula<ElementwiseOp::kSqrtGrad>{}, FloatsAndComplexes>,
    .accelerated = VectorBinary<ElementwiseOp::kSqrtGrad>,
    .native = "_MklNativeSqrtGrad",
    .native_types = "float bfloat16 double",
    .elementwise = true,
});

const OpRegistration rsqrt_grad({
    .name = "RsqrtGrad",
    .inputs = "y: T, dy: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = GradientShape,
    .reference = Binary<Formula<ElementwiseOp::kRsqrtGrad>{}, FloatsAndComplexes>,
    .accelerated = VectorBinary<ElementwiseOp::kRsqrtGrad>,
    .native = "_MklNativeRsqrtGrad",
    .native_types = "float bfloat16 double",
    .elementwise = true,
});

const OpRegistration inv_grad({
    .name = "InvGrad",
    .inputs = "y: T, dy: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = GradientShape,
    .reference = Binary<Formula<ElementwiseOp::kReciprocalGrad>{}, FloatsAndComplexes>,
    .accelerated = VectorBinary<ElementwiseOp::kReciprocalGrad>,
    .native = "_MklNativeInvGrad",
    .native_types = "float bfloat16 double",
    .elementwise = true,
});

const OpRegistration reciprocal_grad({
    .name = "ReciprocalGrad",
    .inputs = "y: T, dy: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = GradientShape,
    .reference = Binary<Formula<ElementwiseOp::kReciprocalGrad>{}, FloatsAndComplexes>,
    .accelerated = VectorBinary<ElementwiseOp::kReciprocalGrad>,
    .native = "_MklNativeReciprocalGrad",
    .native_types = "float bfloat16 double",
    .elementwise = true,
});

}  // namespace
}  // namespace tenon
