// Gradients of one step of an LSTM, or of all its steps, from the gates of the forward kernel
// (lstm.h). float and half.
#ifndef TENON_KERNELS_SEQUENCE_LSTM_GRAD_H_
#define TENON_KERNELS_SEQUENCE_LSTM_GRAD_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/contraction/product_code.h"
#include "kernels/interface/kernel.h"
#include "kernels/sequence/lstm.h"

namespace tenon {

// For one step. Inputs: x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, cs_grad,
// h_grad. Outputs: the gradients of cs_prev, the gates (dicfo) and the peephole weights.
absl::StatusOr<std::unique_ptr<Kernel>> LstmStepGrad(PrepareContext& p);

// For all steps. Inputs: the number of valid steps, then those of LstmStepGrad, with h after co.
// Outputs: the gradients of x, cs_prev, h_prev, w, wci, wcf, wco and b. InvalidArgument at Run for
// a number of steps out of range.
absl::StatusOr<std::unique_ptr<Kernel>> LstmGrad(PrepareContext& p, LstmForm form,
                                                 ProductCode code = ProductCode::kEigen);

// LstmGrad as a kernel factory, and with products in vector code.
template <LstmForm kForm>
absl::StatusOr<std::unique_ptr<Kernel>> LstmGrad(PrepareContext& p) {
  return LstmGrad(p, kForm);
}
template <LstmForm kForm>
absl::StatusOr<std::unique_ptr<Kernel>> LstmGradVector(PrepareContext& p) {
  return LstmGrad(p, kForm, ProductCode::kVectors);
}

}  // namespace tenon

#endif  // TENON_KERNELS_SEQUENCE_LSTM_GRAD_H_
