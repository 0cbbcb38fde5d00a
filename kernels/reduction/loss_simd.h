// Loops of losses in float.
#ifndef TENON_KERNELS_REDUCTION_LOSS_SIMD_H_
#define TENON_KERNELS_REDUCTION_LOSS_SIMD_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

// One row of a cross entropy: returns the sum of labels * (log(sum(exp(logits))) - logits) and
// writes backprop = softmax(logits) - labels. backprop may be logits or labels. A NaN in the logits
// makes the whole row NaN.
struct CrossEntropyRow {
  const float* logits = nullptr;
  const float* labels = nullptr;  // null: 1 at `label`, else 0
  int64_t label = 0;
  // Whether there is one value for the whole row instead of n.
  bool repeated_logits = false, repeated_labels = false;
  float* backprop = nullptr;
  size_t n = 0;
};
using CrossEntropyRowFn = float (*)(const CrossEntropyRow& row);
CrossEntropyRowFn FindCrossEntropyRow();

// The sum of x[i] * x[i]. Blocks are summed in float and combined in double.
using SquareSumFn = double (*)(const float* x, size_t n);
SquareSumFn FindSquareSum();

}  // namespace tenon

#endif  // TENON_KERNELS_REDUCTION_LOSS_SIMD_H_
