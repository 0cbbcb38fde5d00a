// Gradients of activations and roots: what arrives at the output times the derivative, which is
// computed from the op's input ("features") or its output ("outputs", "y").
#include <cmath>
#include <complex>

#include "env/status.h"
#include "kernels/elementwise/reference.h"
#include "kernels/elementwise/unary_binary.h"
#include "ops/op.h"

namespace tenon {
namespace {

// A product with 0 or 1, not a choice: a gradient of NaN or infinity is not lost where the
// derivative is 0.
constexpr auto kReluGrad = [](auto g, auto x) {
  using T = decltype(g);
  return static_cast<T>(g * T(x > T(0)));
};
constexpr auto kRelu6Grad = [](auto g, auto x) {
  using T = decltype(g);
  return static_cast<T>(g * T(x > T(0) && x < T(6)));
};
constexpr auto kEluGrad = [](auto g, auto y) { return y < 0 ? (y + 1) * g : g; };
constexpr auto kSeluGrad = [](auto g, auto y) {
  using T = decltype(g);
  constexpr T kScale = T(1.0507009873554804934193349852946);
  constexpr T kScaleAlpha = T(1.7580993408473768599402175208123);
  return y < 0 ? g * (y + kScaleAlpha) : g * kScale;
};
constexpr auto kSoftplusGrad = [](auto g, auto x) { return g / (std::exp(-x) + 1); };
constexpr auto kSoftsignGrad = [](auto g, auto x) {
  const auto root = std::abs(x) + 1;
  return g / (root * root);
};

template <typename T>
T Conjugate(T x) {
  if constexpr (kIsComplex<T>) {
    return std::conj(x);
  } else {
    return x;
  }
}

constexpr auto kTanhGrad = [](auto y, auto dy) {
  using T = decltype(y);
  return dy * (T(1) - y * y);
};
constexpr auto kSigmoidGrad = [](auto y, auto dy) {
  using T = decltype(y);
  return dy * y * (T(1) - y);
};
// Where no gradient arrives none leaves, though the derivative may be infinite.
constexpr auto kSqrtGrad = [](auto y, auto dy) {
  using T = decltype(y);
  return dy == T(0) ? T(0) : T(0.5) * dy / Conjugate(y);
};
constexpr auto kRsqrtGrad = [](auto y, auto dy) {
  using T = decltype(y);
  const T c = Conjugate(y);
  return dy == T(0) ? T(0) : T(-0.5) * (dy * c) * (c * c);
};
constexpr auto kReciprocalGrad = [](auto y, auto dy) {
  using T = decltype(y);
  const T c = Conjugate(y);
  return dy == T(0) ? T(0) : -c * c * dy;
};

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
      // alpha in the dtype, as TensorFlow has it.
      const ComputeType<T> slope = ToCompute(static_cast<T>(alpha));
      for (int64_t i = 0; i < n; ++i) {
        const auto g = ToCompute(gradients[i]);
        y[i] = static_cast<T>(ToCompute(features[i]) > 0 ? g : g * slope);
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
    .reference = Binary<kReluGrad, RealNumbers>,
    .accelerated = VectorBinary<ElementwiseOp::kReluGrad>,
    .native = "_MklNativeReluGrad",
    .native_types = "float bfloat16",
    .elementwise = true,
});

const OpRegistration relu6_grad({
    .name = "Relu6Grad",
    .inputs = "gradients: T, features: T",
    .outputs = "backprops: T",
    .attrs = "T: type",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64",
    .shape = GradientShape,
    .reference = Binary<kRelu6Grad, RealNumbers>,
    .accelerated = VectorBinary<ElementwiseOp::kRelu6Grad>,
    .native = "_MklNativeRelu6Grad",
    .native_types = "float bfloat16",
    .elementwise = true,
});

const OpRegistration elu_grad({
    .name = "EluGrad",
    .inputs = "gradients: T, outputs: T",
    .outputs = "backprops: T",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double",
    .shape = GradientShape,
    .reference = Binary<kEluGrad, Floats>,
    .accelerated = VectorBinary<ElementwiseOp::kEluGrad>,
    .native = "_MklNativeEluGrad",
    .native_types = "float bfloat16",
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
    .reference = Binary<kSeluGrad, Floats>,
    .accelerated = VectorBinary<ElementwiseOp::kSeluGrad>,
    .native = "_MklNativeSeluGrad",
    .native_types = "float bfloat16",
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
    .reference = Binary<kSoftplusGrad, Floats>,
    .accelerated = VectorBinary<ElementwiseOp::kSoftplusGrad>,
    .native = "_MklNativeSoftplusGrad",
    .native_types = "float bfloat16",
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
    .reference = Binary<kSoftsignGrad, Floats>,
    .accelerated = VectorBinary<ElementwiseOp::kSoftsignGrad>,
    .native = "_MklNativeSoftsignGrad",
    .native_types = "float bfloat16",
    .elementwise = true,
});

const OpRegistration tanh_grad({
    .name = "TanhGrad",
    .inputs = "y: T, dy: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = GradientShape,
    .reference = Binary<kTanhGrad, FloatsAndComplexes>,
    .accelerated = VectorBinary<ElementwiseOp::kTanhGrad>,
    .native = "_MklNativeTanhGrad",
    .native_types = "float bfloat16",
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
    .reference = Binary<kSigmoidGrad, FloatsAndComplexes>,
    .accelerated = VectorBinary<ElementwiseOp::kSigmoidGrad>,
    .native = "_MklNativeSigmoidGrad",
    .native_types = "float bfloat16",
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
    .reference = Binary<kSqrtGrad, FloatsAndComplexes>,
    .accelerated = VectorBinary<ElementwiseOp::kSqrtGrad>,
    .native = "_MklNativeSqrtGrad",
    .native_types = "float bfloat16",
    .elementwise = true,
});

const OpRegistration rsqrt_grad({
    .name = "RsqrtGrad",
    .inputs = "y: T, dy: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = GradientShape,
    .reference = Binary<kRsqrtGrad, FloatsAndComplexes>,
    .accelerated = VectorBinary<ElementwiseOp::kRsqrtGrad>,
    .native = "_MklNativeRsqrtGrad",
    .native_types = "float bfloat16",
    .elementwise = true,
});

const OpRegistration inv_grad({
    .name = "InvGrad",
    .inputs = "y: T, dy: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = GradientShape,
    .reference = Binary<kReciprocalGrad, FloatsAndComplexes>,
    .accelerated = VectorBinary<ElementwiseOp::kReciprocalGrad>,
    .native = "_MklNativeInvGrad",
    .native_types = "float bfloat16",
    .elementwise = true,
});

const OpRegistration reciprocal_grad({
    .name = "ReciprocalGrad",
    .inputs = "y: T, dy: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = GradientShape,
    .reference = Binary<kReciprocalGrad, FloatsAndComplexes>,
    .accelerated = VectorBinary<ElementwiseOp::kReciprocalGrad>,
    .native = "_MklNativeReciprocalGrad",
    .native_types = "float bfloat16",
    .elementwise = true,
});

}  // namespace
}  // namespace tenon
