// CTCGreedyDecoder, CTCBeamSearchDecoder: label sequences from logits per time step, where one
// class is the blank between labels (Graves, "Supervised Sequence Labelling with Recurrent Neural
// Networks", chapter 7.5).
#include "kernels/sequence/ctc_decoder.h"

#include "ops/op.h"

namespace tenon {
namespace {

// Outputs: indices of each path, values of each path, shapes of each path, log probabilities.
absl::Status DecoderShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 3));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  const Shape& in = c.input(0);
  for (int d = 0; in.has_rank() && d < 3; ++d) {
    if (in.dim(d) == 0) return InvalidArgument("inputs of shape ", in.ToString(), " are empty");
  }
  int64_t batch = in.has_rank() ? in.dim(1) : -1;
  if (!Shape({batch}).CompatibleWith(c.input(1))) {
    return InvalidArgument("sequence_length of shape ", c.input(1).ToString(), " for a batch of ",
                           batch);
  }
  if (batch < 0 && c.input(1).has_rank()) batch = c.input(1).dim(0);
  const int paths = (c.num_outputs() - 1) / 3;
  if (paths < 1) return InvalidArgument("top_paths must be at least 1");
  for (int i = 0; i < paths; ++i) {
    c.set_output(i, Shape({-1, 2}));
    c.set_output(paths + i, Shape({-1}));
    c.set_output(2 * paths + i, Shape({2}));
  }
  c.set_output(3 * paths, Shape({batch, paths}));
  return absl::OkStatus();
}

const OpRegistration ctc_greedy_decoder({
    .name = "CTCGreedyDecoder",
    .inputs = "inputs: T, sequence_length: int32",
    .outputs = "decoded_indices: int64, decoded_values: int64, decoded_shape: int64, "
               "log_probability: T",
    .attrs = "merge_repeated: bool = false; blank_index: int = -1; T: type = float",
    .types = "T: float double",
    .shape = DecoderShape,
    .reference = CtcGreedyDecoder,
});

const OpRegistration ctc_beam_search_decoder({
    .name = "CTCBeamSearchDecoder",
    .inputs = "inputs: T, sequence_length: int32",
    .outputs = "decoded_indices: top_paths * int64, decoded_values: top_paths * int64, "
               "decoded_shape: top_paths * int64, log_probability: T",
    .attrs = "beam_width: int; top_paths: int; merge_repeated: bool = true; T: type = float",
    .types = "T: float double",
    .shape = DecoderShape,
    .reference = CtcBeamSearchDecoder,
    .error_bound = ErrorBound::kPathSum,
});

}  // namespace
}  // namespace tenon
