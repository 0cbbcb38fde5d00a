// CTCLoss: the negative log probability of label sequences given logits per time step, and its
// gradient (Graves, "Supervised Sequence Labelling with Recurrent Neural Networks", chapter 7). The
// blank is the last class; in CTCLossV2, the first. Path probabilities are computed in double, as
// logarithms.
#include "kernels/sequence/ctc_loss.h"

#include "ops/op.h"

namespace tenon {
namespace {

// Inputs: logits [time, batch, classes], sparse labels (indices, values), sequence lengths.
absl::Status LossShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 3));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(3, 1));
  const Shape& logits = c.input(0);
  for (int d = 0; logits.has_rank() && d < 3; ++d) {
    if (logits.dim(d) == 0) return InvalidArgument("inputs of shape ", logits.ToString());
  }
  const int64_t count = c.input(2).has_rank() ? c.input(2).dim(0) : -1;
  if (!Shape({count, 2}).CompatibleWith(c.input(1))) {
    return InvalidArgument("labels_indices of shape ", c.input(1).ToString(),
                           " for labels_values of shape ", c.input(2).ToString());
  }
  int64_t batch = logits.has_rank() ? logits.dim(1) : -1;
  if (!Shape({batch}).CompatibleWith(c.input(3))) {
    return InvalidArgument("sequence_length of shape ", c.input(3).ToString(), " for a batch of ",
                           batch);
  }
  if (batch < 0 && c.input(3).has_rank()) batch = c.input(3).dim(0);
  c.set_output(0, Shape({batch}));
  c.set_output(1, logits.has_rank() ? logits : Shape({-1, batch, -1}));
  return absl::OkStatus();
}

const OpRegistration loss({
    .name = "CTCLoss",
    .inputs = "inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32",
    .outputs = "loss: T, gradient: T",
    .attrs = "preprocess_collapse_repeated: bool = false; ctc_merge_repeated: bool = true; "
             "ignore_longer_outputs_than_inputs: bool = false; T: type = float",
    .types = "T: float double",
    .shape = LossShape,
    .reference = CtcLoss<CtcBlank::kLastClass>,
    .error_bound = ErrorBound::kPathSum,
});

const OpRegistration loss_v2({
    .name = "CTCLossV2",
    .inputs = "inputs: float, labels_indices: int64, labels_values: int32, sequence_length: int32",
    .outputs = "loss: float, gradient: float",
    .attrs = "preprocess_collapse_repeated: bool = false; ctc_merge_repeated: bool = true; "
             "ignore_longer_outputs_than_inputs: bool = false",
    .shape = LossShape,
    .reference = CtcLoss<CtcBlank::kFirstClass>,
    .error_bound = ErrorBound::kPathSum,
});

}  // namespace
}  // namespace tenon
