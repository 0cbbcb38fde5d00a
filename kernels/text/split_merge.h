// Tokens from decisions about each character: it begins a token, or joins the one before.
#ifndef TENON_KERNELS_TEXT_SPLIT_MERGE_H_
#define TENON_KERNELS_TEXT_SPLIT_MERGE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Texts (input 0, [n]) and decisions. Outputs: tokens, row splits, first bytes, the bytes after the
// last. Whitespace belongs to no token; with force_split_at_break_character it always ends one.
// InvalidArgument for fewer decisions than characters.

// Decisions are labels (input 1, int32; 0 splits), with row splits (input 2, int32).
absl::StatusOr<std::unique_ptr<Kernel>> SplitByLabelsKernel(PrepareContext& p);
// Decisions are logits (input 1, [n, most characters, 2]), of splitting and of joining.
absl::StatusOr<std::unique_ptr<Kernel>> SplitByLogitsKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_SPLIT_MERGE_H_
