// ROUGE-L (Lin, 2004): how much of a reference a text has, by their longest common subsequence.
#ifndef TENON_KERNELS_TEXT_ROUGE_H_
#define TENON_KERNELS_TEXT_ROUGE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Tokens of texts with row splits, tokens of references with row splits, and alpha, a scalar.
// Outputs, float per row: the F-measure, the precision P and the recall R. The F-measure is
// P R / (alpha R + (1 - alpha) P), or with beta = P / R for a negative alpha. InvalidArgument if
// alpha is above 1.
absl::StatusOr<std::unique_ptr<Kernel>> RougeLKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_ROUGE_H_
