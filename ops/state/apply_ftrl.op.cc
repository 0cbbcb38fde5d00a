// FTRL-proximal (McMahan et al., 2013), and V2, whose l2_shrinkage adds a plain L2 penalty.
#include "kernels/state/optimizers.h"
#include "ops/op.h"
#include "ops/state/apply_shape.h"

namespace tenon {
namespace {

constexpr char kAttrs[] = "T: type; use_locking: bool = false; multiply_linear_by_lr: bool = false";

const OpRegistration ftrl({
    .name = "ResourceApplyFtrl",
    .inputs = "var: resource, accum: resource, linear: resource, grad: T, lr: T, l1: T, l2: T, "
              "lr_power: T",
    .attrs = kAttrs,
    .types = "T: half bfloat16 float double",
    .shape = ApplyShape<kFtrlInputs>,
    .reference = ApplyAll<FtrlKernel>,
    .stateful = true,
});

const OpRegistration ftrl_v2({
    .name = "ResourceApplyFtrlV2",
    .inputs = "var: resource, accum: resource, linear: resource, grad: T, lr: T, l1: T, l2: T, "
              "l2_shrinkage: T, lr_power: T",
    .attrs = kAttrs,
    .types = "T: half bfloat16 float double",
    .shape = ApplyShape<kFtrlV2Inputs>,
    .reference = ApplyAll<FtrlV2Kernel>,
    .stateful = true,
});

}  // namespace
}  // namespace tenon
