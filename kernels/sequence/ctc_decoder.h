// Label sequences from logits per time step, [time, batch, classes], where one class is the blank
// between labels (Graves, "Supervised Sequence Labelling with Recurrent Neural Networks",
// chapter 7.5). float and double.
#ifndef TENON_KERNELS_SEQUENCE_CTC_DECODER_H_
#define TENON_KERNELS_SEQUENCE_CTC_DECODER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: logits, lengths [batch] (int32). Outputs: for each path a sparse tensor of labels
// (indices, values, shapes), then log probabilities. InvalidArgument at Run for lengths beyond the
// time.
//
// The most likely class at each step; attribute blank_index.
absl::StatusOr<std::unique_ptr<Kernel>> CtcGreedyDecoder(PrepareContext& p);
// The most likely prefixes, attribute beam_width of them per step; the blank is the last class.
absl::StatusOr<std::unique_ptr<Kernel>> CtcBeamSearchDecoder(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_SEQUENCE_CTC_DECODER_H_
