// Texts as bytes and bits, and sequences of tokens joined.
#ifndef TENON_KERNELS_TEXT_BYTES_H_
#define TENON_KERNELS_TEXT_BYTES_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Texts [n] to all their bytes, row splits, and each byte's offset and the next one's.
absl::StatusOr<std::unique_ptr<Kernel>> ByteSplitKernel(PrepareContext& p);

// Texts [n], first bytes and bytes after the last (int32) of parts, and the row splits of these:
// the parts, and their row splits. InvalidArgument for offsets outside of a text.
absl::StatusOr<std::unique_ptr<Kernel>> SplitByOffsetsKernel(PrepareContext& p);

// Texts [n] to floats [n, word_length * bits_per_char]: the low bits of each character, the lowest
// first. What is not UTF-8 counts as replacement_char.
absl::StatusOr<std::unique_ptr<Kernel>> BinarizeKernel(PrepareContext& p);

// All runs of `width` tokens, joined: of a tensor's last axis (input 0), or of a ragged tensor's
// innermost rows (its row splits are the other inputs).
absl::StatusOr<std::unique_ptr<Kernel>> JoinRunsKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_BYTES_H_
