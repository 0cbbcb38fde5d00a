// Parts of strings as a sparse tensor [strings, most parts].
#ifndef TENON_KERNELS_STRINGS_SPLIT_H_
#define TENON_KERNELS_STRINGS_SPLIT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Splits a vector of strings (input 0) at every byte that input 1 (a scalar) holds, or between
// all bytes where it is empty; empty parts are dropped with skip_empty.
absl::StatusOr<std::unique_ptr<Kernel>> SplitAtBytesKernel(PrepareContext& p);

// Splits a vector of strings (input 0) at each occurrence of input 1 (a scalar), or at runs of
// white space where it is empty; at most `maxsplit` times where that is positive.
absl::StatusOr<std::unique_ptr<Kernel>> SplitAtTextKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_STRINGS_SPLIT_H_
