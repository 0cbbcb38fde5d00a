// Splits rows of code points into tokens, at whitespace or where the script changes.
#ifndef TENON_KERNELS_TEXT_SPLIT_CHARACTERS_H_
#define TENON_KERNELS_TEXT_SPLIT_CHARACTERS_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Code points (int32, [n]) and row splits to the tokens' code points, their splits into tokens, the
// tokens' first characters and those after their last, counted in their row, and the splits of the
// tokens into rows.
absl::StatusOr<std::unique_ptr<Kernel>> SplitAtSpaceKernel(PrepareContext& p);
// The same; whitespace belongs to no token unless `keep_whitespace`.
absl::StatusOr<std::unique_ptr<Kernel>> SplitAtScriptKernel(PrepareContext& p);

// The words of texts: the parts between characters that are set in `bits`, with their first bytes
// and those after the last.
struct Words {
  std::vector<absl::string_view> words;
  std::vector<int32_t> starts, limits;
  std::vector<int64_t> counts;  // by text
};
void AddWords(absl::string_view text, absl::string_view bits, Words& to);

// Texts (input 0, [n]), split at the characters that are set in the bits of input 1, a scalar.
// Outputs: tokens, row splits, first bytes, the bytes after the last (int32). As in TensorFlow
// Text, a token that whitespace of more than one byte ends has all but the last of those bytes.
absl::StatusOr<std::unique_ptr<Kernel>> SplitAtBitsKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_SPLIT_CHARACTERS_H_
