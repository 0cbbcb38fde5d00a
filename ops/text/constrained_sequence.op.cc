// ConstrainedSequence: the best states of sequences under allowed and weighted transitions.
#include "kernels/text/constrained_sequence.h"

#include "ops/op.h"

namespace tenon {
namespace {

absl::Status StatesShape(ShapeContext& c) {
  c.set_output(0, Shape({-1}));
  c.set_output(1, Shape({-1}));
  const Shape& scores = c.input(0);
  if (!scores.has_rank()) return absl::OkStatus();
  const int rank = scores.rank();
  if (rank != 2 && rank != 3) {
    return InvalidArgument("scores must have rank 2 or 3, got ", scores.ToString());
  }
  const int64_t batch = rank == 3 ? scores.dim(0) : 1;
  if (batch >= 0) c.set_output(1, Shape({batch + 1}));
  if (batch >= 0 && c.input(1).IsComplete() && c.input(1).num_elements() != batch) {
    return InvalidArgument("there are ", c.input(1).num_elements(), " lengths for ", batch,
                           " sequences");
  }
  const int64_t states = scores.dim(rank - 1);
  if (states < 0) return absl::OkStatus();
  const int64_t size = states + (c.attrs().Bool("use_start_and_end_states", false) ? 1 : 0);
  for (const int i : {2, 3}) {
    const Shape& matrix = c.input(i);
    if (!matrix.IsComplete() || matrix.num_elements() == 0) continue;
    if (matrix.rank() != 2 || matrix.dim(0) != size || matrix.dim(1) != size) {
      return InvalidArgument(i == 2 ? "allowed_transitions" : "transition_weights", " must be [",
                             size, ", ", size, "] or empty, got ", matrix.ToString());
    }
  }
  return absl::OkStatus();
}

const OpRegistration constrained_sequence({
    .name = "ConstrainedSequence",
    .inputs = "scores: float, sequence_lengths: Tin, allowed_transitions: bool, "
              "transition_weights: float",
    .outputs = "states: int32, states_splits: Tsplits",
    .attrs = "Tin: type; Tsplits: type = int64; use_viterbi: bool; use_log_space: bool; "
             "use_start_and_end_states: bool",
    .types = "Tin: int32 int64; Tsplits: int32 int64",
    .shape = StatesShape,
    .reference = ConstrainedSequenceKernel,
});

}  // namespace
}  // namespace tenon
