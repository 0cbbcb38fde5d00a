// Splits texts at what a regular expression matches.
#ifndef TENON_KERNELS_TEXT_REGEX_SPLIT_H_
#define TENON_KERNELS_TEXT_REGEX_SPLIT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Texts (input 0, [n]), split where the first group of the pattern (input 1, a scalar) matches; a
// delimiter that all of input 2 matches becomes a token too, unless that pattern is empty. Outputs:
// tokens, their first bytes and the bytes after their last, row splits. As in TensorFlow Text, a
// text ends at its first NUL. InvalidArgument for patterns that are wrong, match an empty text, or
// match without their group.
absl::StatusOr<std::unique_ptr<Kernel>> RegexSplitKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_REGEX_SPLIT_H_
