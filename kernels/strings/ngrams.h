// Joins each row's sequences of tokens, of every requested width, with a separator; rows may be
// padded at both ends.
#ifndef TENON_KERNELS_STRINGS_NGRAMS_H_
#define TENON_KERNELS_STRINGS_NGRAMS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Tokens [n] and row splits (int32 or int64) to n-grams and their row splits. InvalidArgument for
// widths below 1 and splits that do not increase from 0 to n.
absl::StatusOr<std::unique_ptr<Kernel>> NGramsKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_STRINGS_NGRAMS_H_
