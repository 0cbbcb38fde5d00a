// The negative log probability of label sequences given logits per time step, and its gradient
// (Graves, "Supervised Sequence Labelling with Recurrent Neural Networks", chapter 7). Path
// probabilities are computed in double, as logarithms.
#ifndef TENON_KERNELS_SEQUENCE_CTC_LOSS_H_
#define TENON_KERNELS_SEQUENCE_CTC_LOSS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

enum class CtcBlank { kLastClass, kFirstClass };

// Inputs: logits [time, batch, classes] (float or double), labels (indices and values of a sparse
// tensor), lengths [batch]. Outputs: loss [batch], the logits' gradient. InvalidArgument at Run for
// labels or lengths out of range.
absl::StatusOr<std::unique_ptr<Kernel>> CtcLoss(PrepareContext& p, CtcBlank blank);

template <CtcBlank kBlank>
absl::StatusOr<std::unique_ptr<Kernel>> CtcLoss(PrepareContext& p) {
  return CtcLoss(p, kBlank);
}

}  // namespace tenon

#endif  // TENON_KERNELS_SEQUENCE_CTC_LOSS_H_
