// Measures how far a quantized model's outputs are from the float model's.
#ifndef TENON_RUNTIME_QUANTIZE_COMPARE_H_
#define TENON_RUNTIME_QUANTIZE_COMPARE_H_

#include <cstdint>
#include <vector>

#include "graph/tensor.h"

namespace tenon {

// Sums over all tensors added.
class Difference {
 public:
  // Both must be float and of the same size.
  void Add(const Tensor& exact, const Tensor& other);
  double error() const;        // sqrt(sum (exact - other)^2 / sum exact^2)
  double correlation() const;  // Pearson's

 private:
  double n_ = 0, x_ = 0, y_ = 0, xx_ = 0, yy_ = 0, xy_ = 0, dd_ = 0;
};

// The number of rows of `scores` [n, classes] whose largest score is at the class in `labels`
// (which has all samples' labels), starting at sample `first`.
int64_t CountTop1(const Tensor& scores, const std::vector<int64_t>& labels, int64_t first);

}  // namespace tenon

#endif  // TENON_RUNTIME_QUANTIZE_COMPARE_H_
