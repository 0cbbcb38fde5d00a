// Unicode normal forms and case folding, by ICU.
#ifndef TENON_KERNELS_TEXT_NORMALIZE_H_
#define TENON_KERNELS_TEXT_NORMALIZE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Strings of any shape, by NFKC_Casefold.
absl::StatusOr<std::unique_ptr<Kernel>> CaseFoldKernel(PrepareContext& p);

// Strings of any shape in the normal form `normalization_form`: NFC, NFD, NFKC or NFKD, in either
// case. If there is a second output, it gets variants: the edits that each string took.
absl::StatusOr<std::unique_ptr<Kernel>> NormalizeKernel(PrepareContext& p);

// Edits (input 0, [rows]), byte offsets in the edited strings (input 1, int64) and their row splits
// (input 2) to offsets in the strings before. As in TensorFlow Text, a row without offsets takes no
// edits from input 0.
absl::StatusOr<std::unique_ptr<Kernel>> SourceOffsetsKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_NORMALIZE_H_
