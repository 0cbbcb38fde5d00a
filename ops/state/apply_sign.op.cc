// AddSign and PowerSign.
#include "kernels/state/optimizers.h"
#include "ops/op.h"
#include "ops/state/apply_shape.h"

namespace tenon {
namespace {

const OpRegistration add_sign({
    .name = "ResourceApplyAddSign",
    .inputs = "var: resource, m: resource, lr: T, alpha: T, sign_decay: T, beta: T, grad: T",
    .attrs = "T: type; use_locking: bool = false",
    .types = "T: half bfloat16 float double",
    .shape = ApplyShape<kAddSignInputs>,
    .reference = ApplyAll<AddSignKernel>,
    .stateful = true,
});

const OpRegistration power_sign({
    .name = "ResourceApplyPowerSign",
    .inputs = "var: resource, m: resource, lr: T, logbase: T, sign_decay: T, beta: T, grad: T",
    .attrs = "T: type; use_locking: bool = false",
    .types = "T: half bfloat16 float double",
    .shape = ApplyShape<kPowerSignInputs>,
    .reference = ApplyAll<PowerSignKernel>,
    .stateful = true,
});

}  // namespace
}  // namespace tenon
