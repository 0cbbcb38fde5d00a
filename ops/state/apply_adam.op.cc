// Adam and AdaMax (Kingma and Ba, 2014), AMSGrad.
#include "kernels/state/optimizers.h"
#include "ops/op.h"
#include "ops/state/apply_shape.h"

namespace tenon {
namespace {

const OpRegistration adam({
    .name = "ResourceApplyAdam",
    .inputs = "var: resource, m: resource, v: resource, beta1_power: T, beta2_power: T, lr: T, "
              "beta1: T, beta2: T, epsilon: T, grad: T",
    .attrs = "T: type; use_locking: bool = false; use_nesterov: bool = false",
    .types = "T: half bfloat16 float double complex64 complex128",
    .shape = ApplyShape<kAdamInputs>,
    .reference = ApplyAll<AdamKernel>,
    .stateful = true,
});

const OpRegistration ada_max({
    .name = "ResourceApplyAdaMax",
    .inputs = "var: resource, m: resource, v: resource, beta1_power: T, lr: T, beta1: T, "
              "beta2: T, epsilon: T, grad: T",
    .attrs = "T: type; use_locking: bool = false",
    .types = "T: half bfloat16 float double",
    .shape = ApplyShape<kAdaMaxInputs>,
    .reference = ApplyAll<AdaMaxKernel>,
    .stateful = true,
});

const OpRegistration adam_with_amsgrad({
    .name = "ResourceApplyAdamWithAmsgrad",
    .inputs = "var: resource, m: resource, v: resource, vhat: resource, beta1_power: T, "
              "beta2_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T",
    .attrs = "T: type; use_locking: bool = false",
    .types = "T: half bfloat16 float double",
    .shape = ApplyShape<kAmsgradInputs>,
    .reference = ApplyAll<AmsgradKernel>,
    .stateful = true,
});

}  // namespace
}  // namespace tenon
