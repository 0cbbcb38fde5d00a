// The states of sequences from scores per step, where some transitions are forbidden or weighted.
#ifndef TENON_KERNELS_TEXT_CONSTRAINED_SEQUENCE_H_
#define TENON_KERNELS_TEXT_CONSTRAINED_SEQUENCE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Scores (float, [batch, steps, states], or [steps, states]), lengths (int32 or int64, one per
// sequence), allowed transitions (bool) and their weights (float), each empty or [n, n], where n is
// the number of states, plus one for start and end with use_start_and_end_states. Outputs: the
// states of all sequences (int32, -1 if none is allowed) and the row splits.
// With use_log_space scores are added, else multiplied. With use_viterbi a sequence has the best
// score as a whole, else each step the best one after the step before; of equal scores the higher
// state wins. InvalidArgument for lengths beyond the steps and for negative weights to multiply.
absl::StatusOr<std::unique_ptr<Kernel>> ConstrainedSequenceKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_CONSTRAINED_SEQUENCE_H_
