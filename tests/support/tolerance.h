// How far a result may be from its golden value: a formula of the dtype's precision, of how many
// terms the op adds up, and of how large they are. Never a number found by trying.
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

// Distance from 1 to the next number; 0 for dtypes that are exact.
double Epsilon(DType dtype);

// For output `golden` of `op` (its plain name) on `inputs`.
Tolerance ToleranceFor(const Node& node, absl::Span<const Tensor> inputs, const Tensor& golden);

// Empty where every element is within the tolerance (NaN only equals NaN, infinities themselves);
// otherwise a line about the worst one.
std::string Difference(const Tensor& result, const Tensor& golden, Tolerance tolerance);

}  // namespace tenon

#endif  // TENON_TESTS_SUPPORT_TOLERANCE_H_
