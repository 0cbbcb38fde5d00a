// Adagrad, Adadelta and RMSProp: learning rates scaled by the history of squared gradients.
#include "kernels/state/optimizers.h"
#include "ops/op.h"
#include "ops/state/apply_shape.h"

namespace tenon {
namespace {

const OpRegistration adagrad({
    .name = "ResourceApplyAdagrad",
    .inputs = "var: resource, accum: resource, lr: T, grad: T",
    .attrs = "T: type; use_locking: bool = false; update_slots: bool = true",
    .types = "T: half bfloat16 float double complex64 complex128",
    .shape = ApplyShape<kAdagradInputs>,
    .reference = ApplyAll<AdagradKernel>,
    .stateful = true,
});

const OpRegistration adagrad_v2({
    .name = "ResourceApplyAdagradV2",
    .inputs = "var: resource, accum: resource, lr: T, epsilon: T, grad: T",
    .attrs = "T: type; use_locking: bool = false; update_slots: bool = true",
    .types = "T: half bfloat16 float double complex64 complex128",
    .shape = ApplyShape<kAdagradV2Inputs>,
    .reference = ApplyAll<AdagradV2Kernel>,
    .stateful = true,
});

const OpRegistration adadelta({
    .name = "ResourceApplyAdadelta",
    .inputs = "var: resource, accum: resource, accum_update: resource, lr: T, rho: T, epsilon: T, "
              "grad: T",
    .attrs = "T: type; use_locking: bool = false",
    .types = "T: half bfloat16 float double complex64 complex128",
    .shape = ApplyShape<kAdadeltaInputs>,
    .reference = ApplyAll<AdadeltaKernel>,
    .stateful = true,
});

const OpRegistration rms_prop({
    .name = "ResourceApplyRMSProp",
    .inputs = "var: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, "
              "grad: T",
    .attrs = "T: type; use_locking: bool = false",
    .types = "T: half bfloat16 float double complex64 complex128",
    .shape = ApplyShape<kRmsPropInputs>,
    .reference = ApplyAll<RmsPropKernel>,
    .stateful = true,
});

const OpRegistration centered_rms_prop({
    .name = "ResourceApplyCenteredRMSProp",
    .inputs = "var: resource, mg: resource, ms: resource, mom: resource, lr: T, rho: T, "
              "momentum: T, epsilon: T, grad: T",
    .attrs = "T: type; use_locking: bool = false",
    .types = "T: half bfloat16 float double complex64 complex128",
    .shape = ApplyShape<kCenteredRmsPropInputs>,
    .reference = ApplyAll<CenteredRmsPropKernel>,
    .stateful = true,
});

}  // namespace
}  // namespace tenon
