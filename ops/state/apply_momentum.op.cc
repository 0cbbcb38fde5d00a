// Gradient descent, and momentum in TensorFlow's and in Keras' form.
#include "kernels/state/optimizers.h"
#include "ops/op.h"
#include "ops/state/apply_shape.h"

namespace tenon {
namespace {

const OpRegistration gradient_descent({
    .name = "ResourceApplyGradientDescent",
    .inputs = "var: resource, alpha: T, delta: T",
    .attrs = "T: type; use_locking: bool = false",
    .types = "T: half bfloat16 float double complex64 complex128",
    .shape = ApplyShape<kGradientDescentInputs>,
    .reference = ApplyAll<GradientDescentKernel>,
    .stateful = true,
});

constexpr char kInputs[] = "var: resource, accum: resource, lr: T, grad: T, momentum: T";

constexpr char kMomentumAttrs[] = "T: type; use_locking: bool = false; use_nesterov: bool = false";

const OpRegistration momentum_op({
    .name = "ResourceApplyMomentum",
    .inputs = kInputs,
    .attrs = kMomentumAttrs,
    .types = "T: half bfloat16 float double complex64 complex128",
    .shape = ApplyShape<kMomentumInputs>,
    .reference = ApplyAll<MomentumKernel>,
    .stateful = true,
});

const OpRegistration keras_momentum({
    .name = "ResourceApplyKerasMomentum",
    .inputs = kInputs,
    .attrs = kMomentumAttrs,
    .types = "T: half bfloat16 float double complex64 complex128",
    .shape = ApplyShape<kKerasMomentumInputs>,
    .reference = ApplyAll<KerasMomentumKernel>,
    .stateful = true,
});

}  // namespace
}  // namespace tenon
