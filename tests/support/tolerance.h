// Tolerances: how far a result may be from its golden value. A tolerance is computed from the
// dtype's precision and from the number and size of the terms that the op adds; it is never tuned.
#ifndef TENON_TESTS_SUPPORT_TOLERANCE_H_
#define TENON_TESTS_SUPPORT_TOLERANCE_H_

#include <string>

#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/tensor.h"

namespace tenon {

// |result - golden| <= relative * |golden| + absolute.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

// The distance from 1 to the next larger number; 0 for exact dtypes.
double Epsilon(DType dtype);

// The tolerance for output `golden` of `op` (its public name) on `inputs`.
Tolerance ToleranceFor(const Node& node, absl::Span<const Tensor> inputs, const Tensor& golden);

// Returns an empty string if every element is within the tolerance (NaN matches only NaN, an
// infinity only itself), else a line about the worst element.
std::string Difference(const Tensor& result, const Tensor& golden, Tolerance tolerance);

}  // namespace tenon

#endif  // TENON_TESTS_SUPPORT_TOLERANCE_H_
