// Splits strings into a sparse tensor [strings, most parts].
#ifndef TENON_KERNELS_STRINGS_SPLIT_H_
#define TENON_KERNELS_STRINGS_SPLIT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Splits a vector of strings (input 0) at every byte in input 1 (a scalar), or between all bytes if
// it is empty; skip_empty drops empty parts.
absl::StatusOr<std::unique_ptr<Kernel>> SplitAtBytesKernel(PrepareContext& p);

// Splits a vector of strings (input 0) at each occurrence of input 1 (a scalar), or at whitespace
// if it is empty; at most `maxsplit` times if that is positive.
absl::StatusOr<std::unique_ptr<Kernel>> SplitAtTextKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_STRINGS_SPLIT_H_
