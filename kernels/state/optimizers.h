// Optimizer steps on a variable and its slots. half and bfloat16 are computed in float. At run
// time, InvalidArgument if a variable's shape differs from the gradient's.
#ifndef TENON_KERNELS_STATE_OPTIMIZERS_H_
#define TENON_KERNELS_STATE_OPTIMIZERS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The inputs of an optimizer's kernel: handles of the variable and its slots, then scalars and the
// gradient.
struct ApplyInputs {
  int variables;
  int gradient;
};

// Adagrad; without update_slots, accum does not change.
// Inputs: var, accum, lr, grad.
inline constexpr ApplyInputs kAdagradInputs{.variables = 2, .gradient = 3};
absl::StatusOr<std::unique_ptr<Kernel>> AdagradKernel(PrepareContext& p);

// The same with an epsilon.
// Inputs: var, accum, lr, epsilon, grad.
inline constexpr ApplyInputs kAdagradV2Inputs{.variables = 2, .gradient = 4};
absl::StatusOr<std::unique_ptr<Kernel>> AdagradV2Kernel(PrepareContext& p);

// Adadelta (Zeiler, 2012).
// Inputs: var, accum, accum_update, lr, rho, epsilon, grad.
inline constexpr ApplyInputs kAdadeltaInputs{.variables = 3, .gradient = 6};
absl::StatusOr<std::unique_ptr<Kernel>> AdadeltaKernel(PrepareContext& p);

// RMSProp.
// Inputs: var, ms, mom, lr, rho, momentum, epsilon, grad.
inline constexpr ApplyInputs kRmsPropInputs{.variables = 3, .gradient = 7};
absl::StatusOr<std::unique_ptr<Kernel>> RmsPropKernel(PrepareContext& p);

// RMSProp with the centered variance.
// Inputs: var, mg, ms, mom, lr, rho, momentum, epsilon, grad.
inline constexpr ApplyInputs kCenteredRmsPropInputs{.variables = 4, .gradient = 8};
absl::StatusOr<std::unique_ptr<Kernel>> CenteredRmsPropKernel(PrepareContext& p);

// Adam; with use_nesterov, NAdam.
// Inputs: var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad.
inline constexpr ApplyInputs kAdamInputs{.variables = 3, .gradient = 9};
absl::StatusOr<std::unique_ptr<Kernel>> AdamKernel(PrepareContext& p);

// AdaMax.
// Inputs: var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad.
inline constexpr ApplyInputs kAdaMaxInputs{.variables = 3, .gradient = 8};
absl::StatusOr<std::unique_ptr<Kernel>> AdaMaxKernel(PrepareContext& p);

// FTRL-proximal.
// Inputs: var, accum, linear, grad, lr, l1, l2, lr_power.
inline constexpr ApplyInputs kFtrlInputs{.variables = 3, .gradient = 3};
absl::StatusOr<std::unique_ptr<Kernel>> FtrlKernel(PrepareContext& p);

// The same with a plain L2 penalty, l2_shrinkage.
// Inputs: var, accum, linear, grad, lr, l1, l2, l2_shrinkage, lr_power.
inline constexpr ApplyInputs kFtrlV2Inputs{.variables = 3, .gradient = 3};
absl::StatusOr<std::unique_ptr<Kernel>> FtrlV2Kernel(PrepareContext& p);

// Gradient descent.
// Inputs: var, alpha, delta.
inline constexpr ApplyInputs kGradientDescentInputs{.variables = 1, .gradient = 2};
absl::StatusOr<std::unique_ptr<Kernel>> GradientDescentKernel(PrepareContext& p);

// Momentum; with use_nesterov, Nesterov momentum.
// Inputs: var, accum, lr, grad, momentum.
inline constexpr ApplyInputs kMomentumInputs{.variables = 2, .gradient = 3};
absl::StatusOr<std::unique_ptr<Kernel>> MomentumKernel(PrepareContext& p);

// The same in Keras's form.
// Inputs: var, accum, lr, grad, momentum.
inline constexpr ApplyInputs kKerasMomentumInputs{.variables = 2, .gradient = 3};
absl::StatusOr<std::unique_ptr<Kernel>> KerasMomentumKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_STATE_OPTIMIZERS_H_
