// Reads the small integer inputs of array ops: axes, shapes, paddings.
#ifndef TENON_KERNELS_INTERFACE_AXIS_H_
#define TENON_KERNELS_INTERFACE_AXIS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/shape.h"
#include "graph/tensor.h"

namespace tenon {

// The elements of a tensor of any integer dtype.
absl::StatusOr<std::vector<int64_t>> IntegersOf(const Tensor& t);
// The single element of a scalar (or one-element) integer tensor.
absl::StatusOr<int64_t> ScalarInteger(const Tensor& t, absl::string_view what);

// `axis` counted from the front; it may be -rank .. rank - 1.
absl::StatusOr<int> NormalizeAxis(int64_t axis, int rank);
// A mask of the dimensions that `axes` name. Repeated axes are InvalidArgument.
absl::StatusOr<std::vector<bool>> AxisMask(const std::vector<int64_t>& axes, int rank);

// A shape given as a vector of sizes; -1 (unknown) is accepted if allowed.
enum class MinusOne { kRefused, kUnknown };
absl::StatusOr<Shape> ShapeOfValue(const Tensor& t, MinusOne minus_one);

// The product of dims [from, to) of a complete shape.
int64_t Product(const Shape& shape, int from, int to);

// a + b and a * b, with -1 for what is unknown or no int64.
inline int64_t AddDims(int64_t a, int64_t b) {
  int64_t sum = 0;
  return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? -1 : sum;
}
inline int64_t MulDims(int64_t a, int64_t b) {
  int64_t product = 0;
  return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? -1 : product;
}

}  // namespace tenon

#endif  // TENON_KERNELS_INTERFACE_AXIS_H_
