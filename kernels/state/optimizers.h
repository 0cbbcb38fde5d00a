// Optimizer steps on a variable and its slots. half and bfloat16 are computed in float. At run
// time, InvalidArgument if a variable's shape does not fit the gradient's.
#ifndef TENON_KERNELS_STATE_OPTIMIZERS_H_
#define TENON_KERNELS_STATE_OPTIMIZERS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The rows that an op updates: all, with a gradient of the variable's shape, or some, with one for
// each of the indices, an input behind the gradient. Indices that are out of range are
// InvalidArgument at Run.
enum class ApplyRows { kAll, kSome };

// The inputs of an optimizer's kernel: handles of the variable and its slots, then scalars and the
// gradient.
struct ApplyInputs {
  int variables;
  int gradient;
};

// Adagrad; without update_slots, accum does not change.
// Inputs: var, accum, lr, grad.
inline constexpr ApplyInputs kAdagradInputs{.variables = 2, .gradient = 3};
absl::StatusOr<std::unique_ptr<Kernel>> AdagradKernel(PrepareContext& p, ApplyRows rows);

// The same with an epsilon.
// Inputs: var, accum, lr, epsilon, grad.
inline constexpr ApplyInputs kAdagradV2Inputs{.variables = 2, .gradient = 4};
absl::StatusOr<std::unique_ptr<Kernel>> AdagradV2Kernel(PrepareContext& p, ApplyRows rows);

// Adadelta (Zeiler, 2012).
// Inputs: var, accum, accum_update, lr, rho, epsilon, grad.
inline constexpr ApplyInputs kAdadeltaInputs{.variables = 3, .gradient = 6};
absl::StatusOr<std::unique_ptr<Kernel>> AdadeltaKernel(PrepareContext& p, ApplyRows rows);

// RMSProp.
// Inputs: var, ms, mom, lr, rho, momentum, epsilon, grad.
inline constexpr ApplyInputs kRmsPropInputs{.variables = 3, .gradient = 7};
absl::StatusOr<std::unique_ptr<Kernel>> RmsPropKernel(PrepareContext& p, ApplyRows rows);

// RMSProp with the centered variance.
// Inputs: var, mg, ms, mom, lr, rho, momentum, epsilon, grad.
inline constexpr ApplyInputs kCenteredRmsPropInputs{.variables = 4, .gradient = 8};
absl::StatusOr<std::unique_ptr<Kernel>> CenteredRmsPropKernel(PrepareContext& p, ApplyRows rows);

// Adam; with use_nesterov, NAdam.
// Inputs: var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad.
inline constexpr ApplyInputs kAdamInputs{.variables = 3, .gradient = 9};
absl::StatusOr<std::unique_ptr<Kernel>> AdamKernel(PrepareContext& p, ApplyRows rows);

// AdaMax.
// Inputs: var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad.
inline constexpr ApplyInputs kAdaMaxInputs{.variables = 3, .gradient = 8};
absl::StatusOr<std::unique_ptr<Kernel>> AdaMaxKernel(PrepareContext& p, ApplyRows rows);

// FTRL-proximal.
// Inputs: var, accum, linear, grad, lr, l1, l2, lr_power.
inline constexpr ApplyInputs kFtrlInputs{.variables = 3, .gradient = 3};
absl::StatusOr<std::unique_ptr<Kernel>> FtrlKernel(PrepareContext& p, ApplyRows rows);

// The same with a plain L2 penalty, l2_shrinkage.
// Inputs: var, accum, linear, grad, lr, l1, l2, l2_shrinkage, lr_power.
inline constexpr ApplyInputs kFtrlV2Inputs{.variables = 3, .gradient = 3};
absl::StatusOr<std::unique_ptr<Kernel>> FtrlV2Kernel(PrepareContext& p, ApplyRows rows);

// Gradient descent.
// Inputs: var, alpha, delta.
inline constexpr ApplyInputs kGradientDescentInputs{.variables = 1, .gradient = 2};
absl::StatusOr<std::unique_ptr<Kernel>> GradientDescentKernel(PrepareContext& p, ApplyRows rows);

// Momentum; with use_nesterov, Nesterov momentum.
// Inputs: var, accum, lr, grad, momentum.
inline constexpr ApplyInputs kMomentumInputs{.variables = 2, .gradient = 3};
absl::StatusOr<std::unique_ptr<Kernel>> MomentumKernel(PrepareContext& p, ApplyRows rows);

// The same in Keras's form.
// Inputs: var, accum, lr, grad, momentum.
inline constexpr ApplyInputs kKerasMomentumInputs{.variables = 2, .gradient = 3};
absl::StatusOr<std::unique_ptr<Kernel>> KerasMomentumKernel(PrepareContext& p, ApplyRows rows);

// Adagrad with dual averaging (Duchi et al., 2011), L1 and L2 regularization.
// Inputs: var, gradient_accumulator, gradient_squared_accumulator, grad, lr, l1, l2, global_step.
inline constexpr ApplyInputs kAdagradDaInputs{.variables = 3, .gradient = 3};
absl::StatusOr<std::unique_ptr<Kernel>> AdagradDaKernel(PrepareContext& p, ApplyRows rows);

// Steps with a proximal operator for L1 and L2 regularization (Duchi and Singer, 2009).
// Inputs: var, alpha, l1, l2, delta.
inline constexpr ApplyInputs kProximalGradientDescentInputs{.variables = 1, .gradient = 4};
absl::StatusOr<std::unique_ptr<Kernel>> ProximalGradientDescentKernel(PrepareContext& p,
                                                                      ApplyRows rows);
// Inputs: var, accum, lr, l1, l2, grad.
inline constexpr ApplyInputs kProximalAdagradInputs{.variables = 2, .gradient = 5};
absl::StatusOr<std::unique_ptr<Kernel>> ProximalAdagradKernel(PrepareContext& p, ApplyRows rows);

// Gradients weighted by whether their sign is that of their average (Bello et al., 2017).
// Inputs: var, m, lr, alpha, sign_decay, beta, grad.
inline constexpr ApplyInputs kAddSignInputs{.variables = 2, .gradient = 6};
absl::StatusOr<std::unique_ptr<Kernel>> AddSignKernel(PrepareContext& p, ApplyRows rows);
// Inputs: var, m, lr, logbase, sign_decay, beta, grad.
inline constexpr ApplyInputs kPowerSignInputs{.variables = 2, .gradient = 6};
absl::StatusOr<std::unique_ptr<Kernel>> PowerSignKernel(PrepareContext& p, ApplyRows rows);

// AMSGrad (Reddi et al., 2018).
// Inputs: var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad.
inline constexpr ApplyInputs kAmsgradInputs{.variables = 4, .gradient = 10};
absl::StatusOr<std::unique_ptr<Kernel>> AmsgradKernel(PrepareContext& p, ApplyRows rows);

// Kernel factories.
using OptimizerKernel = absl::StatusOr<std::unique_ptr<Kernel>> (*)(PrepareContext&, ApplyRows);
template <OptimizerKernel kKernel>
absl::StatusOr<std::unique_ptr<Kernel>> ApplyAll(PrepareContext& p) {
  return kKernel(p, ApplyRows::kAll);
}
template <OptimizerKernel kKernel>
absl::StatusOr<std::unique_ptr<Kernel>> ApplySome(PrepareContext& p) {
  return kKernel(p, ApplyRows::kSome);
}

}  // namespace tenon

#endif  // TENON_KERNELS_STATE_OPTIMIZERS_H_
