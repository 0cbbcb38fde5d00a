// Relu, Relu6, Elu, Selu, LeakyRelu, Softplus, Softsign. NaN stays NaN.
#include "kernels/elementwise/formulas.h"
#include "kernels/elementwise/reference.h"
#include "kernels/elementwise/unary_binary.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::StatusOr<std::unique_ptr<Kernel>> LeakyReluReference(PrepareContext& p) {
  const float alpha = p.attrs().Float("alpha", 0.2f);
  const int64_t n = p.input_shape(0).num_elements();
  p.AllowInPlace(0, 0);
  return DispatchType(Floats{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([alpha, n](RunContext& run) {
      const T* x = run.input<T>(0);
      T* y = run.output<T>(0);
      // alpha is rounded to the dtype, as in TensorFlow.
      const ComputeType<T> slope = ToCompute(static_cast<T>(alpha));
      constexpr Formula<ElementwiseOp::kLeakyRelu> kFormula{};
      for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(kFormula(ToCompute(x[i]), slope));
      return absl::OkStatus();
    });
  });
}

const OpRegistration relu({
    .name = "Relu",
    .inputs = "features: T",
    .outputs = "activations: T",
    .attrs = "T: type",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kRelu>{}, RealNumbers>,
    .accelerated = VectorUnary<ElementwiseOp::kRelu>,
    .native = "_MklNativeRelu",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .sign = Sign::kNeverNegative,
    .precision = PrecisionRole::kFollows,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration relu6({
    .name = "Relu6",
    .inputs = "features: T",
    .outputs = "activations: T",
    .attrs = "T: type",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kRelu6>{}, RealNumbers>,
    .accelerated = VectorUnary<ElementwiseOp::kRelu6>,
    .native = "_MklNativeRelu6",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .sign = Sign::kNeverNegative,
    .precision = PrecisionRole::kFollows,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration elu({
    .name = "Elu",
    .inputs = "features: T",
    .outputs = "activations: T",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kElu>{}, Floats>,
    .accelerated = VectorUnary<ElementwiseOp::kElu>,
    .native = "_MklNativeElu",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .precision = PrecisionRole::kFollows,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration selu({
    .name = "Selu",
    .inputs = "features: T",
    .outputs = "activations: T",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kSelu>{}, Floats>,
    .accelerated = VectorUnary<ElementwiseOp::kSelu>,
    .native = "_MklNativeSelu",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .precision = PrecisionRole::kFollows,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration softplus({
    .name = "Softplus",
    .inputs = "features: T",
    .outputs = "activations: T",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kSoftplus>{}, Floats>,
    .accelerated = VectorUnary<ElementwiseOp::kSoftplus>,
    .native = "_MklNativeSoftplus",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .sign = Sign::kNeverNegative,
    .precision = PrecisionRole::kFollows,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration softsign({
    .name = "Softsign",
    .inputs = "features: T",
    .outputs = "activations: T",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kSoftsign>{}, Floats>,
    .accelerated = VectorUnary<ElementwiseOp::kSoftsign>,
    .native = "_MklNativeSoftsign",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .precision = PrecisionRole::kFollows,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration leaky_relu({
    .name = "LeakyRelu",
    .inputs = "features: T",
    .outputs = "activations: T",
    .attrs = "alpha: float = 0.2; T: type = float",
    .types = "T: half bfloat16 float double",
    .shape = UnchangedShape,
    .reference = LeakyReluReference,
    .accelerated = VectorUnary<ElementwiseOp::kLeakyRelu>,
    .native = "_MklNativeLeakyRelu",
    .native_types = "float bfloat16",
    .elementwise = true,
    .precision = PrecisionRole::kFollows,
});

}  // namespace
}  // namespace tenon
