// Optimizer steps for the rows that indices name (tf.IndexedSlices, the gradients of embeddings).
// The formulas are those of the ops for all rows.
#include "kernels/state/optimizers.h"
#include "ops/op.h"
#include "ops/state/apply_shape.h"

namespace tenon {
namespace {

const OpRegistration sparse_adagrad({
    .name = "ResourceSparseApplyAdagrad",
    .inputs = "var: resource, accum: resource, lr: T, grad: T, indices: Tindices",
    .attrs = "T: type; Tindices: type; use_locking: bool = false; update_slots: bool = true",
    .types = "T: half bfloat16 float double complex64 complex128; Tindices: int32 int64",
    .shape = SparseApplyShape<kAdagradInputs>,
    .reference = ApplySome<AdagradKernel>,
    .stateful = true,
});

const OpRegistration sparse_adagrad_v2({
    .name = "ResourceSparseApplyAdagradV2",
    .inputs = "var: resource, accum: resource, lr: T, epsilon: T, grad: T, indices: Tindices",
    .attrs = "T: type; Tindices: type; use_locking: bool = false; update_slots: bool = true",
    .types = "T: half bfloat16 float double complex64 complex128; Tindices: int32 int64",
    .shape = SparseApplyShape<kAdagradV2Inputs>,
    .reference = ApplySome<AdagradV2Kernel>,
    .stateful = true,
});

const OpRegistration sparse_adagrad_da({
    .name = "ResourceSparseApplyAdagradDA",
    .inputs = "var: resource, gradient_accumulator: resource, "
              "gradient_squared_accumulator: resource, grad: T, indices: Tindices, lr: T, l1: T, "
              "l2: T, global_step: int64",
    .attrs = "T: type; Tindices: type; use_locking: bool = false",
    .types = "T: float double; Tindices: int32 int64",
    .shape = SparseApplyShape<kAdagradDaInputs>,
    .reference = ApplySome<AdagradDaKernel>,
    .stateful = true,
});

const OpRegistration sparse_adadelta({
    .name = "ResourceSparseApplyAdadelta",
    .inputs = "var: resource, accum: resource, accum_update: resource, lr: T, rho: T, "
              "epsilon: T, grad: T, indices: Tindices",
    .attrs = "T: type; Tindices: type; use_locking: bool = false",
    .types = "T: half bfloat16 float double complex64 complex128; Tindices: int32 int64",
    .shape = SparseApplyShape<kAdadeltaInputs>,
    .reference = ApplySome<AdadeltaKernel>,
    .stateful = true,
});

const OpRegistration sparse_rms_prop({
    .name = "ResourceSparseApplyRMSProp",
    .inputs = "var: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, "
              "epsilon: T, grad: T, indices: Tindices",
    .attrs = "T: type; Tindices: type; use_locking: bool = false",
    .types = "T: half float double complex64 complex128; Tindices: int32 int64",
    .shape = SparseApplyShape<kRmsPropInputs>,
    .reference = ApplySome<RmsPropKernel>,
    .stateful = true,
});

const OpRegistration sparse_centered_rms_prop({
    .name = "ResourceSparseApplyCenteredRMSProp",
    .inputs = "var: resource, mg: resource, ms: resource, mom: resource, lr: T, rho: T, "
              "momentum: T, epsilon: T, grad: T, indices: Tindices",
    .attrs = "T: type; Tindices: type; use_locking: bool = false",
    .types = "T: half float double complex64 complex128; Tindices: int32 int64",
    .shape = SparseApplyShape<kCenteredRmsPropInputs>,
    .reference = ApplySome<CenteredRmsPropKernel>,
    .stateful = true,
});

const OpRegistration sparse_momentum({
    .name = "ResourceSparseApplyMomentum",
    .inputs = "var: resource, accum: resource, lr: T, grad: T, indices: Tindices, momentum: T",
    .attrs = "T: type; Tindices: type; use_locking: bool = false; use_nesterov: bool = false",
    .types = "T: half bfloat16 float double complex64 complex128; Tindices: int32 int64",
    .shape = SparseApplyShape<kMomentumInputs>,
    .reference = ApplySome<MomentumKernel>,
    .stateful = true,
});

const OpRegistration sparse_keras_momentum({
    .name = "ResourceSparseApplyKerasMomentum",
    .inputs = "var: resource, accum: resource, lr: T, grad: T, indices: Tindices, momentum: T",
    .attrs = "T: type; Tindices: type; use_locking: bool = false; use_nesterov: bool = false",
    .types = "T: half bfloat16 float double complex64 complex128; Tindices: int32 int64",
    .shape = SparseApplyShape<kKerasMomentumInputs>,
    .reference = ApplySome<KerasMomentumKernel>,
    .stateful = true,
});

const OpRegistration sparse_ftrl({
    .name = "ResourceSparseApplyFtrl",
    .inputs = "var: resource, accum: resource, linear: resource, grad: T, "
              "indices: Tindices, lr: T, l1: T, l2: T, lr_power: T",
    .attrs = "T: type; Tindices: type; use_locking: bool = false; "
             "multiply_linear_by_lr: bool = false",
    .types = "T: half bfloat16 float double; Tindices: int32 int64",
    .shape = SparseApplyShape<kFtrlInputs>,
    .reference = ApplySome<FtrlKernel>,
    .stateful = true,
});

const OpRegistration sparse_ftrl_v2({
    .name = "ResourceSparseApplyFtrlV2",
    .inputs = "var: resource, accum: resource, linear: resource, grad: T, "
              "indices: Tindices, lr: T, l1: T, l2: T, l2_shrinkage: T, lr_power: T",
    .attrs = "T: type; Tindices: type; use_locking: bool = false; "
             "multiply_linear_by_lr: bool = false",
    .types = "T: half bfloat16 float double; Tindices: int32 int64",
    .shape = SparseApplyShape<kFtrlV2Inputs>,
    .reference = ApplySome<FtrlV2Kernel>,
    .stateful = true,
});

const OpRegistration sparse_proximal_gradient_descent({
    .name = "ResourceSparseApplyProximalGradientDescent",
    .inputs = "var: resource, alpha: T, l1: T, l2: T, grad: T, indices: Tindices",
    .attrs = "T: type; Tindices: type; use_locking: bool = false",
    .types = "T: float double; Tindices: int32 int64",
    .shape = SparseApplyShape<kProximalGradientDescentInputs>,
    .reference = ApplySome<ProximalGradientDescentKernel>,
    .stateful = true,
});

const OpRegistration sparse_proximal_adagrad({
    .name = "ResourceSparseApplyProximalAdagrad",
    .inputs = "var: resource, accum: resource, lr: T, l1: T, l2: T, grad: T, "
              "indices: Tindices",
    .attrs = "T: type; Tindices: type; use_locking: bool = false",
    .types = "T: float double; Tindices: int32 int64",
    .shape = SparseApplyShape<kProximalAdagradInputs>,
    .reference = ApplySome<ProximalAdagradKernel>,
    .stateful = true,
});

}  // namespace
}  // namespace tenon
