// Wordpieces by a prebuilt trie, in linear time, and texts from wordpieces.
#ifndef TENON_KERNELS_TEXT_FAST_WORDPIECE_H_
#define TENON_KERNELS_TEXT_FAST_WORDPIECE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Words or, as the model says, texts (input 0, [n]) and the model (input 1, a FlatBuffer). Outputs:
// pieces, their ids, row splits, the pieces' first bytes, the bytes after their last.
absl::StatusOr<std::unique_ptr<Kernel>> FastWordpieceKernel(PrepareContext& p);

// Ids (int32, [n]), row splits (int64) and the model (input 2) to one text per row.
// FailedPrecondition if the model has no vocabulary, OutOfRange for other ids.
absl::StatusOr<std::unique_ptr<Kernel>> FastWordpieceDetokenizeKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_FAST_WORDPIECE_H_
