// Splits words into the pieces of a vocabulary, the longest first.
#ifndef TENON_KERNELS_TEXT_WORDPIECE_H_
#define TENON_KERNELS_TEXT_WORDPIECE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Words (input 0, [n]); the vocabulary is the keys (input 1) whose values (input 2, int64) are not
// -1. Outputs: pieces, row lengths or splits, and the byte in its word at which each piece begins
// and ends. If the vocabulary is constant, all kernels share its index.
absl::StatusOr<std::unique_ptr<Kernel>> WordpieceKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_WORDPIECE_H_
