// Adagrad with dual averaging, and the proximal optimizers.
#include "kernels/state/optimizers.h"
#include "ops/op.h"
#include "ops/state/apply_shape.h"

namespace tenon {
namespace {

const OpRegistration adagrad_da({
    .name = "ResourceApplyAdagradDA",
    .inputs =
        "var: resource, gradient_accumulator: resource, "
        "gradient_squared_accumulator: resource, grad: T, lr: T, l1: T, l2: T, global_step: int64",
    .attrs = "T: type; use_locking: bool = false",
    .types = "T: float double",
    .shape = ApplyShape<kAdagradDaInputs>,
    .reference = ApplyAll<AdagradDaKernel>,
    .stateful = true,
});

const OpRegistration proximal_gradient_descent({
    .name = "ResourceApplyProximalGradientDescent",
    .inputs = "var: resource, alpha: T, l1: T, l2: T, delta: T",
    .attrs = "T: type; use_locking: bool = false",
    .types = "T: float double",
    .shape = ApplyShape<kProximalGradientDescentInputs>,
    .reference = ApplyAll<ProximalGradientDescentKernel>,
    .stateful = true,
});

const OpRegistration proximal_adagrad({
    .name = "ResourceApplyProximalAdagrad",
    .inputs = "var: resource, accum: resource, lr: T, l1: T, l2: T, grad: T",
    .attrs = "T: type; use_locking: bool = false",
    .types = "T: float double",
    .shape = ApplyShape<kProximalAdagradInputs>,
    .reference = ApplyAll<ProximalAdagradKernel>,
    .stateful = true,
});

}  // namespace
}  // namespace tenon
