// Texts as phrases of a vocabulary, by TensorFlow Text's prebuilt models.
#ifndef TENON_KERNELS_TEXT_PHRASES_H_
#define TENON_KERNELS_TEXT_PHRASES_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Texts ([n]) and a model (uint8). Outputs: phrases, their ids (int64), row splits (int64). A
// phrase is the longest that matches; the shortest if the model's probability of shorter ones is
// 100 %. InvalidArgument for probabilities between, which make the choice random.
absl::StatusOr<std::unique_ptr<Kernel>> PhraseTokenizeKernel(PrepareContext& p);

// Ids (int32), row splits (int64) and a model, to texts. InvalidArgument for a model that is not
// built for it and for ids beyond the vocabulary.
absl::StatusOr<std::unique_ptr<Kernel>> PhraseDetokenizeKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_PHRASES_H_
