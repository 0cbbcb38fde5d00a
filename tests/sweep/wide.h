// References in double for the sweep's problems in float.
#ifndef TENON_TESTS_SWEEP_WIDE_H_
#define TENON_TESTS_SWEEP_WIDE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor.h"
#include "ops/evaluate.h"
#include "tests/sweep/problem.h"

namespace tenon::sweep {

// The problem's results, computed in double and rounded once to float. Unimplemented for dtypes
// other than float, and for ops whose reference kernel has no double.
absl::StatusOr<std::vector<Tensor>> RunInDouble(const Problem& problem, const Services& services);

// The root mean square of the differences over that of `wanted`; 0 unless they are float or
// complex.
double RmsError(const Tensor& got, const Tensor& wanted);

}  // namespace tenon::sweep

#endif  // TENON_TESTS_SWEEP_WIDE_H_
