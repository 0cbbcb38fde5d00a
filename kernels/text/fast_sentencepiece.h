// TensorFlow Text's fast sentencepiece tokenizer: unigram models as FlatBuffers, one for pieces and
// one for texts.
#ifndef TENON_KERNELS_TEXT_FAST_SENTENCEPIECE_H_
#define TENON_KERNELS_TEXT_FAST_SENTENCEPIECE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// A model (uint8, [bytes]) and texts; inputs 4, 5 and 6: whether to add the code of a beginning and
// of an end, and to reverse. Outputs: codes (int32), row splits (int32);
// InvalidArgument for other dtypes, which TensorFlow Text's op declares and does not have.
absl::StatusOr<std::unique_ptr<Kernel>> FastSentencepieceTokenizeKernel(PrepareContext& p);

// A model of the other kind, codes (int32) and row splits, to texts. InvalidArgument for codes
// beyond the vocabulary.
absl::StatusOr<std::unique_ptr<Kernel>> FastSentencepieceDetokenizeKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_FAST_SENTENCEPIECE_H_
