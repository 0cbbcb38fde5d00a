// Tokenizers by SentencePiece models. Input 0 of all kernels is the serialized model (a string
// scalar); if it is constant, all kernels share the parsed form.
#ifndef TENON_KERNELS_TEXT_SENTENCEPIECE_H_
#define TENON_KERNELS_TEXT_SENTENCEPIECE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Texts (input 1, [n]) to pieces or their ids, row splits and, if there are four outputs, the bytes
// at which they begin and end. Inputs 2 and 3, nbest_size and alpha, are for random
// segmentations: nbest_size other than 0 and 1 is Unimplemented. With the attribute return_nbest,
// each text gives the rows of its nbest_size best segmentations. Inputs 4 to 6 (bool): whether to
// add the pieces of a beginning and an end, and whether to reverse.
absl::StatusOr<std::unique_ptr<Kernel>> SentencePieceTokenizeKernel(PrepareContext& p);

// Pieces or ids (input 1, [n]) and row splits to texts. Inputs 3 to 5 as 4 to 6 above.
absl::StatusOr<std::unique_ptr<Kernel>> SentencePieceDetokenizeKernel(PrepareContext& p);

absl::StatusOr<std::unique_ptr<Kernel>> SentencePieceVocabSizeKernel(PrepareContext& p);
// Ids (input 1, int32) to pieces, and the reverse.
absl::StatusOr<std::unique_ptr<Kernel>> SentencePieceIdToStringKernel(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> SentencePieceStringToIdKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_SENTENCEPIECE_H_
