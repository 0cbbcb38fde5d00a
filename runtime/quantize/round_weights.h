// Matrices of weights rounded to fewer bits, in groups along the axis that a product sums over.
#ifndef TENON_RUNTIME_QUANTIZE_ROUND_WEIGHTS_H_
#define TENON_RUNTIME_QUANTIZE_ROUND_WEIGHTS_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "graph/tensor.h"

namespace tenon {

enum class WeightFormat { kInt8, kInt4, kBfloat16 };

struct RoundingOptions {
  WeightFormat format = WeightFormat::kInt8;
  int64_t group = 64;           // 0: all terms of a column
  DType scales = DType::kHalf;  // float if a scale is out of its range
  bool zero_points = false;     // integers for [min, max] of the group instead of [-max, max]
  int threads = 1;
};

// The terms of a group: less than asked for if a column has fewer, and whole bytes of 4-bit
// numbers.
int64_t GroupSize(int64_t terms, const RoundingOptions& options);

struct RoundingError {
  double largest = 0;                // |exact - rounded|
  double squares = 0, of_exact = 0;  // sums of squares of the difference, and of the exact weights
};

// The terms of a column are along axis 0 of a matrix [K, N], or along axis 1 if it is `transposed`.
// Elements are [groups, group, N], or [N, groups, group]; after the K-th term they represent 0.
// With kInt4, the axis within a group counts bytes (kernels/matmul/weight_only.h). With kBfloat16,
// elements have the matrix's shape and nothing else is set.
struct RoundedWeights {
  Tensor elements;                      // int8, uint8 (two of 4 bits) or bfloat16
  std::optional<Tensor> scales, zeros;  // [groups, 1, N] or [N, groups, 1]; zeros: int8 or uint8
  RoundingError error;
};
absl::StatusOr<RoundedWeights> RoundWeights(const Tensor& matrix, bool transposed,
                                            const RoundingOptions& options);

}  // namespace tenon

#endif  // TENON_RUNTIME_QUANTIZE_ROUND_WEIGHTS_H_
